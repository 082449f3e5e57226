public import ControlAPI
internal import HummingbirdCore
public import Logging
public import NIOCore
internal import NIOPosix
public import ServiceLifecycle

/// The thread on which this process answers HTTP, unless it has another one to share.
public enum APIServerEventLoop {
    /// Made on first use; lives as long as the process.
    public static let shared: any EventLoopGroup = MultiThreadedEventLoopGroup(numberOfThreads: 1)
}

/// HTTP/1.1 on a Unix socket (or, for metrics, on TCP) until the service group shuts it down.
///
/// Who asks is what the kernel says of the socket's other end. Everything that a client sends is bounded in size,
/// number and time; what is not HTTP is answered with a bare 400 and the end of the connection, everything else with a
/// document.
public final class APIServer: Service {
    private let configuration: APIServerConfiguration
    private let router: APIRouter
    private let logger: Logger
    private let eventLoopGroup: any EventLoopGroup
    private let onRunning: (@Sendable (_ address: String) -> Void)?

    /// Binds nothing yet.
    ///
    /// - Parameters:
    ///   - eventLoopGroup: the process's own event loop, if it has one: a thread less.
    ///   - onRunning: called once requests are answered, with the socket's path, or `host:port`.
    public init(
        configuration: APIServerConfiguration, router: APIRouter, logger: Logger,
        eventLoopGroup: any EventLoopGroup = APIServerEventLoop.shared,
        onRunning: (@Sendable (_ address: String) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.router = router
        self.logger = logger
        self.eventLoopGroup = eventLoopGroup
        self.onRunning = onRunning
    }

    /// Throws `APIServerError` when it cannot listen.
    public func run() async throws {
        switch configuration.listener {
        case .descriptor(let descriptor):
            let isLocal = try HandedOverListener.isLocal(descriptor)
            try await run(.socket(descriptor), isLocal: isLocal)
        case .unixSocket(let path, let mode, let group):
            let listener = try UnixListener(path: path, mode: mode, group: group)
            defer { listener.removeFile() }
            try await run(.socket(listener.descriptor), isLocal: true, name: path)
        case .tcp(let host, let port):
            try await run(.host(host, port: port), isLocal: false)
        }
    }

    private enum Place {
        case socket(CInt)
        case host(String, port: Int)
    }

    private func run(_ place: Place, isLocal: Bool, name: String? = nil) async throws {
        let connections = ConnectionTable(configuration, isLocal: isLocal)
        let responder = Responder(
            configuration: configuration, router: router, connections: connections, logger: logger)
        let server = try await bind(place, connections, http(responder), silent)
        onRunning?(name ?? Self.text(server.localAddress))
        try? await withThrowingTaskGroup(of: Void.self) { group in
            // The end of the server's socket, of the grace after a shutdown request, or a cancellation.
            group.addTask { await Connection.closed(server) }
            group.addTask { [grace = configuration.shutdownGrace] in
                try await gracefulShutdown()
                connections.quiesce()
                await Self.within(grace) { await connections.allEnded() }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
        try? await server.close().get()
        connections.closeAll()
        await connections.allEnded()
    }

    private static func within(_ time: Duration, _ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await work() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func bind(
        _ place: Place, _ connections: ConnectionTable, _ http: HTTP1Channel, _ logger: Logger
    ) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 64)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            // A client may close its half after its request, as socat does.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            // What is unread or unsent is bounded: 16 KiB in, 64 KiB out, the kernel's buffers apart.
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 16 << 10))
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 64 << 10))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try connections.enter(channel) }.flatMap { connection in
                    http.setup(channel: channel, logger: logger).map { value in
                        // A task of its own, which the table holds and `run` awaits: NIO's asynchronous server channel
                        // drops what it accepts while it closes, and a dropped NIOAsyncChannel is a fatal error.
                        connections.hold(
                            Task {
                                if connection.standing == .closed {
                                    try? await value.executeThenClose { _, _ in }
                                } else {
                                    await http.handle(value: value, logger: logger)
                                }
                                connections.ended(connection)
                            }, of: connection)
                    }
                }
            }
        return switch place {
        case .socket(let descriptor): try await bootstrap.withBoundSocket(descriptor).get()
        case .host(let host, let port): try await bootstrap.bind(host: host, port: port).get()
        }
    }

    private func http(_ responder: Responder) -> HTTP1Channel {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = configuration.maximumHeaderBytes
        decoder.maxHeaderListSize = configuration.maximumHeaderBytes
        decoder.maxHeaderFieldCount = configuration.maximumHeaders
        return HTTP1Channel(
            responder: { request, writer, channel in try await responder.respond(request, writer, channel) },
            configuration: .init(
                idleTimeout: TimeAmount(configuration.idleTimeout), httpDecoderConfiguration: decoder))
    }

    /// The HTTP library logs errors with their values at debug level, and those may quote a request.
    private var silent: Logger {
        var logger = logger
        if logger.logLevel < .info { logger.logLevel = .info }
        return logger
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let address else { return "a socket" }
        if let path = address.pathname { return path }
        let host = address.ipAddress ?? "?"
        return (host.contains(":") ? "[\(host)]" : host) + ":\(address.port ?? 0)"
    }
}
