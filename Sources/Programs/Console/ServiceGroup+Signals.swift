public import Logging
public import ServiceLifecycle
internal import UnixSignals

extension ServiceGroup {
    /// Runs services until one of them ends, SIGTERM or SIGINT; they are shut down in reverse order.
    ///
    /// - Parameter services: the first is what the process is for: it is shut down last, and starts first.
    public static func untilSignalled(_ services: any Service..., logger: Logger) async throws {
        try await untilSignalled(services, logger: logger)
    }

    /// As above.
    public static func untilSignalled(_ services: [any Service], logger: Logger) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { service in
                    .init(
                        service: service, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .cancelGroup)
                },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet))
        try await group.run()
    }
}
