public import NIOCore
internal import NIOPosix
internal import NIOSSL
public import RTMP

/// Where and for whom a server listens.
public struct RTMPServerConfiguration: Equatable, Sendable {
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// Nil for plain RTMP.
    public var tls: RTMPServerTLS?
    public var connections = 4096
    /// From one remote address.
    public var connectionsPerAddress = 1024
    /// Bytes that may wait in a connection; more stay with the delegate, who can still drop them.
    public var writeHighWater = 16 << 10
    /// How long a refused or ended peer may take to read our last words.
    public var drain: Duration = .milliseconds(500)
    public var tlsDeadline: Duration = .seconds(5)
    public var session = ServerSession.Configuration()

    public init(host: String = "127.0.0.1", port: Int = 1935, tls: RTMPServerTLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}

/// Listens, and runs one `ServerSession` per connection, all on one event loop.
///
/// What the server holds for others is confined to that loop: the table of connections.
public final class RTMPServer: @unchecked Sendable {
    public let eventLoop: any EventLoop
    /// The port that it listens on.
    public let port: Int

    private let listener: any Channel
    private let connections: ConnectionTable

    private init(eventLoop: any EventLoop, listener: any Channel, connections: ConnectionTable) {
        self.eventLoop = eventLoop
        self.listener = listener
        self.connections = connections
        port = listener.localAddress?.port ?? 0
    }

    /// - Parameters:
    ///   - socket: one that listens already, and is the server's from now on; nil: binds to the configuration's address.
    ///   - delegate: is told of everything on `eventLoop`; held until the server is closed.
    public static func bind(
        _ configuration: RTMPServerConfiguration, socket: ListeningSocket? = nil,
        on eventLoop: any EventLoop = RTMPEventLoop.shared, delegate: any RTMPServerDelegate
    ) async throws(RTMPTransportError) -> RTMPServer {
        let tls = try configuration.tls.map { (tls) throws(RTMPTransportError) in try tls.makeContext() }
        let table = ConnectionTable(configuration: configuration, eventLoop: eventLoop, delegate: delegate)
        let highWater = configuration.writeHighWater
        let bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: ListeningSocket.backlog)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(SocketOptions.noDelay, value: 1)
            .childChannelOption(SocketOptions.notSentLowWater, value: SocketOptions.notSentLowWaterBytes)
            .childChannelOption(SocketOptions.userTimeout, value: SocketOptions.userTimeoutMilliseconds)
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: max(1, highWater / 4), high: max(2, highWater))
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Refused ones close at once: nothing was read, nothing is owed.
                    guard let connection = table.admit(channel.remoteAddress) else {
                        throw RTMPTransportError(.tooManyConnections)
                    }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        do {
            let socket = try socket ?? ListeningSocket.open(host: configuration.host, port: configuration.port)
            let listener = try await bootstrap.withBoundSocket(socket.descriptor).get()
            try await eventLoop.submit { table.start() }.get()
            return RTMPServer(eventLoop: eventLoop, listener: listener, connections: table)
        } catch let error as RTMPTransportError {
            throw error
        } catch {
            throw RTMPTransportError(.bindFailed(FailureReason.text(error)))
        }
    }

    /// Stops listening and ends every connection, each in the time that `drain` allows.
    public func close() async {
        try? await listener.close().get()
        let done = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { self.connections.closeAll(done) }
        try? await done.futureResult.get()
    }
}

/// The connections of one server: identity, limits, and the clock tick that all of them share.
///
/// Confined to its event loop, which makes `@unchecked Sendable` true.
final class ConnectionTable: @unchecked Sendable {
    let configuration: RTMPServerConfiguration
    let eventLoop: any EventLoop
    private(set) var delegate: (any RTMPServerDelegate)?
    private var connections: [UInt64: RTMPServerConnection] = [:]
    private var perAddress: [String: Int] = [:]
    private var lastID: UInt64 = 0
    private var ticker: RepeatedTask?
    private var closing: EventLoopPromise<Void>?

    init(configuration: RTMPServerConfiguration, eventLoop: any EventLoop, delegate: any RTMPServerDelegate) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.delegate = delegate
    }

    func start() {
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(500), delay: .milliseconds(500)) {
            [weak self] _ in self?.tick()
        }
    }

    /// Nil when a limit is reached.
    func admit(_ address: SocketAddress?) -> RTMPServerConnection? {
        let key = address?.ipAddress ?? "?"
        guard closing == nil, connections.count < configuration.connections,
            perAddress[key, default: 0] < configuration.connectionsPerAddress
        else { return nil }
        lastID += 1
        perAddress[key, default: 0] += 1
        let connection = RTMPServerConnection(id: lastID, address: key, port: address?.port, table: self)
        connections[lastID] = connection
        return connection
    }

    func remove(_ connection: RTMPServerConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        let left = perAddress[connection.address, default: 1] - 1
        perAddress[connection.address] = left > 0 ? left : nil
        finishIfEmpty()
    }

    func closeAll(_ done: EventLoopPromise<Void>) {
        ticker?.cancel()
        closing = done
        for connection in connections.values { connection.close() }
        finishIfEmpty()
    }

    private func finishIfEmpty() {
        guard let closing, connections.isEmpty else { return }
        self.closing = nil
        delegate = nil
        closing.succeed()
    }

    private func tick() {
        let now = MonotonicClock.now
        for connection in connections.values { connection.timePassed(at: now) }
    }
}
