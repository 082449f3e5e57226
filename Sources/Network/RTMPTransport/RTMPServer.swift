internal import ConnectionAcceptance
public import NIOCore
internal import NIOPosix
internal import NIOSSL
public import RTMP
public import Wire

/// Where and for whom a server listens.
public struct RTMPServerConfiguration: Equatable, Sendable {
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// Nil for plain RTMP.
    public var tls: RTMPServerTLS?
    public var connections = 4096
    /// From one remote address, or from one /64 of IPv6.
    public var connectionsPerAddress = 1024
    /// Of `connections`, those that players never get: whoever publishes finds room.
    public var reservedForPublishers = 64
    /// Networks that are talked to; others are closed before a byte is read.
    public var networks = NetworkRules()
    /// How often certificate and key are looked at: new ones serve the connections that come from then on.
    public var certificateCheck: Duration = .seconds(5)
    /// Bytes that may wait in a connection; more stay with the delegate, who can still drop them.
    public var writeHighWater = 16 << 10
    /// How long a refused or ended peer may take to read our last messages.
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
    ///   - delegate: receives every event on `eventLoop`; held until the server is closed.
    public static func bind(
        _ configuration: RTMPServerConfiguration, socket: ListeningSocket? = nil,
        on eventLoop: any EventLoop = RTMPEventLoop.shared, delegate: any RTMPServerDelegate
    ) async throws(RTMPTransportError) -> RTMPServer {
        let certificate = try configuration.tls.map { (tls) throws(RTMPTransportError) in
            try ServerCertificate(tls)
        }
        let table = ConnectionTable(
            configuration: configuration, certificate: certificate, eventLoop: eventLoop, delegate: delegate)
        let highWater = configuration.writeHighWater
        let bootstrap = ServerBootstrap(group: eventLoop)
            // Without it, "no more descriptors" would be reported by each turn of the loop, for as long as it lasts.
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                }
            }
            .serverChannelOption(.maxMessagesPerRead, value: 64)
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
                    if let tls = table.tlsContext {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    try channel.pipeline.syncOperations.addHandler(connection)
                }
            }
        do {
            let socket = try socket ?? ListeningSocket.open(host: configuration.host, port: configuration.port)
            let listener = try await bootstrap.withBoundSocket(socket.descriptor).get()
            try socket.listenAgain()
            try await eventLoop.submit { table.start() }.get()
            return RTMPServer(eventLoop: eventLoop, listener: listener, connections: table)
        } catch let error as RTMPTransportError {
            throw error
        } catch {
            throw RTMPTransportError(.bindFailed(FailureReason.text(error)))
        }
    }

    /// Takes no connection any more; existing ones go on.
    public func stopListening() async {
        try? await listener.close().get()
    }

    /// Stops listening and ends every connection, each in the time that `drain` allows.
    public func close() async {
        await stopListening()
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
    private var budget: ConnectionBudget
    private var certificate: ServerCertificate?
    private var lastID: UInt64 = 0
    private var ticker: RepeatedTask?
    private var certificateTicker: RepeatedTask?
    private var closing: EventLoopPromise<Void>?

    init(
        configuration: RTMPServerConfiguration, certificate: ServerCertificate?, eventLoop: any EventLoop,
        delegate: any RTMPServerDelegate
    ) {
        self.configuration = configuration
        self.certificate = certificate
        self.eventLoop = eventLoop
        self.delegate = delegate
        budget = ConnectionBudget(
            limits: ConnectionBudget.Limits(
                connections: configuration.connections, connectionsPerNetwork: configuration.connectionsPerAddress,
                reserved: min(configuration.reservedForPublishers, configuration.connections / 2),
                reservedPerNetwork: min(16, configuration.connectionsPerAddress / 8)))
    }

    /// Nil for plain RTMP.
    var tlsContext: NIOSSLContext? { certificate?.context }

    func start() {
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(500), delay: .milliseconds(500)) {
            [weak self] _ in self?.tick()
        }
        guard certificate != nil else { return }
        let pause = TimeAmount(configuration.certificateCheck)
        certificateTicker = eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in
            self?.checkCertificate()
        }
    }

    private func checkCertificate() {
        switch certificate?.reload() {
        case nil: return
        case .success?: delegate?.serverChangedCertificate(error: nil)
        case .failure(let error)?: delegate?.serverChangedCertificate(error: error)
        }
    }

    /// Nil when a limit is reached, or when the address is of a network that is not talked to.
    func admit(_ address: SocketAddress?) -> RTMPServerConnection? {
        let text = address?.ipAddress ?? "?"
        let remote = NetworkAddress(text)
        guard closing == nil, configuration.networks.permits(remote) else { return nil }
        let network = NetworkAddress.share(ofClient: text)
        lastID += 1
        switch budget.admit(lastID, from: network, idle: { delegate?.idlePlayer(from: $0) }) {
        case .refused: return nil
        case .admitted: break
        case .admittedInstead(let id): connections[id]?.drop()
        }
        let connection = RTMPServerConnection(
            id: lastID, address: text, network: network, port: address?.port, table: self)
        connections[lastID] = connection
        return connection
    }

    func remove(_ connection: RTMPServerConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        budget.remove(connection.id)
        finishIfEmpty()
    }

    func hasRoomForPlayer(from network: String) -> Bool { budget.hasRoomForPlayer(from: network) }
    func becamePlayer(_ id: UInt64) { budget.becamePlayer(id) }
    func becamePublisher(_ id: UInt64) { budget.becamePublisher(id) }
    func becameUnauthenticated(_ id: UInt64) { budget.becameUnauthenticated(id) }

    func closeAll(_ done: EventLoopPromise<Void>) {
        ticker?.cancel()
        certificateTicker?.cancel()
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
