public import Logging
public import ServiceLifecycle
internal import UnixSignals

extension ServiceGroup {
    /// Runs one service until it ends, SIGTERM or SIGINT; the end of the service is the end of the group.
    public static func untilSignalled(_ service: any Service, logger: Logger) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .cancelGroup)
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
    }
}
