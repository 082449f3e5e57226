public import Logging
public import ServiceLifecycle

/// A server that is not a reason for its process to end: when it cannot listen, that is logged and tried again.
///
/// For a camera's process. Its frames go on without the socket, and another camera, which may make files in the same
/// directory, must not be able to end it by taking the name.
public struct PersistentAPIServer: Service {
    /// Between two attempts.
    public static let pause = Duration.seconds(5)

    private let makeServer: @Sendable () -> APIServer
    private let logger: Logger
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - makeServer: called for each attempt.
    ///   - sleep: for tests.
    public init(
        logger: Logger, sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        makeServer: @escaping @Sendable () -> APIServer
    ) {
        self.logger = logger
        self.sleep = sleep
        self.makeServer = makeServer
    }

    /// Until graceful shutdown or cancellation. Never throws.
    public func run() async {
        var reported = ""
        while !isEnding {
            do {
                try await makeServer().run()
                reported = ""
            } catch {
                let why = "\(error)"
                // Once for each reason: the same line every five seconds would push others out of the journal.
                if why != reported { logger.warning("requests are not answered; trying again every 5 s: \(why)") }
                reported = why
            }
            if isEnding { return }
            try? await cancelWhenGracefulShutdown { try await sleep(Self.pause) }
        }
    }

    private var isEnding: Bool { Task.isCancelled || Task.isShuttingDownGracefully }
}
