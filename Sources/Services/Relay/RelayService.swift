public import Logging
internal import NIOCore
internal import NIOPosix
internal import RTMP
public import RTMPTransport
public import ServiceLifecycle

/// The relay as a service: listens, relays, and on shutdown informs everybody and closes.
///
/// It carries streams as they come. Nothing in this module can hold a key for one.
public final class RelayService: Service {
    /// For those that were asked to connect again before the process ends.
    private static let departureTime = TimeAmount.seconds(1)

    private let configuration: RelayConfiguration
    private let logger: Logger
    private let core: RelayCore
    private let onRunning: @Sendable (Int) -> Void
    private let onAPIRunning: @Sendable (Int) -> Void
    private let server = ServerSession.Configuration()
    private let socket: ListeningSocket?

    /// - Parameters:
    ///   - socket: one that listens already at the configuration's address; nil: makes its own.
    ///   - onRunning: given the port once connections are accepted.
    ///   - onAPIRunning: given the port once the API answers; never when the configuration has none.
    public init(
        configuration: RelayConfiguration, socket: ListeningSocket? = nil, logger: Logger,
        onRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in },
        onAPIRunning: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.socket = socket
        self.logger = logger
        self.onRunning = onRunning
        self.onAPIRunning = onAPIRunning
        core = RelayCore(configuration: configuration, chunkSize: server.chunkSize, logger: logger)
    }

    /// Runs until graceful shutdown or cancellation. Throws when the port cannot be had.
    public func run() async throws {
        var listening = RTMPServerConfiguration(
            host: configuration.host, port: configuration.port, tls: configuration.tls)
        listening.connections = configuration.connections
        listening.connectionsPerAddress = configuration.connectionsPerAddress
        listening.networks = configuration.networks
        listening.session = server
        let core = self.core
        let loop = RTMPEventLoop.shared
        let running = try await RTMPServer.bind(listening, socket: socket, on: loop, delegate: core)
        try? await loop.submit { core.start(on: loop) }.get()
        logger.info(
            "relay listens",
            metadata: [
                "host": "\(configuration.host)", "port": "\(running.port)",
                "tls": "\(configuration.tls != nil)", "publishers": "\(configuration.authorization)",
                "players": "\(configuration.players)",
            ])
        onRunning(running.port)
        let api = configuration.api.map { api in Task { await serve(api, core, loop) } }
        // Ends by shutdown and by cancellation alike; both are answered by closing.
        try? await gracefulShutdown()
        api?.cancel()
        await api?.value
        // Nobody comes any more, so that who is asked to come back finds the next process.
        await running.stopListening()
        try? await loop.flatSubmit { core.askToLeave(within: Self.departureTime, on: loop) }.get()
        let forwards = try? await loop.submit {
            core.stop()
            return core.endForwards()
        }.get()
        await withTaskGroup(of: Void.self) { group in
            for forward in forwards ?? [] { group.addTask { await forward.stop() } }
        }
        await running.close()
        logger.info("relay stopped")
    }

    /// Until it is cancelled. Streams do not depend on it: an address that cannot be had now is tried again.
    private func serve(_ api: RelayAPIConfiguration, _ core: RelayCore, _ loop: any EventLoop) async {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let streams = configuration.limits.streams + configuration.authorization.reserved
        let server = RelayAPIServer(
            api, core: core, streams: streams, isSecure: configuration.tls != nil, relayLoop: loop,
            eventLoop: group.next())
        var wasSaid = false
        while !Task.isCancelled {
            do {
                let listener = try await server.bind()
                let port = listener.localAddress?.port ?? 0
                logger.info(
                    "relay API listens",
                    metadata: ["host": "\(api.host)", "port": "\(port)", "token": "\(api.token != nil)"])
                onAPIRunning(port)
                await withTaskCancellationHandler {
                    try? await listener.closeFuture.get()
                } onCancel: {
                    listener.close(promise: nil)
                }
                await server.stop()
            } catch {
                if !wasSaid {
                    logger.error(
                        "the relay's API cannot listen; tried again every 10 s",
                        metadata: ["host": "\(api.host)", "port": "\(api.port)", "reason": "\(error)"])
                }
                wasSaid = true
                try? await Task.sleep(for: .seconds(10))
            }
        }
        try? await group.shutdownGracefully()
    }

    /// What the relay does at this moment.
    public func statistics() async -> RelayStatistics {
        let core = self.core
        return (try? await RTMPEventLoop.shared.submit { core.statistics() }.get()) ?? RelayStatistics()
    }
}
