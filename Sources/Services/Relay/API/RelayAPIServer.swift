internal import ConnectionAcceptance
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Wire

/// The relay's API for its operator: HTTP/1.1 on a thread of its own, so that no request takes the relay's time but for
/// what it asks.
///
/// Confined to its event loop, which makes `@unchecked Sendable` true; what it asks of the relay is asked on the
/// relay's.
final class RelayAPIServer: @unchecked Sendable {
    let configuration: RelayAPIConfiguration
    let gate: RelayAPIGate
    private let core: RelayCore
    private let relayLoop: any EventLoop
    private let eventLoop: any EventLoop
    /// Series in the metrics.
    private let streams: Int
    /// Clients come to the relay by TLS.
    private let isSecure: Bool
    private var connections = 0
    /// By the share of an address, those that ask.
    private var asking: [String: Int] = [:]
    private var listeners: [ObjectIdentifier: RelayAPIConnection] = [:]
    private var ticker: RepeatedTask?

    init(
        _ configuration: RelayAPIConfiguration, core: RelayCore, streams: Int, isSecure: Bool,
        relayLoop: any EventLoop, eventLoop: any EventLoop
    ) {
        self.configuration = configuration
        self.core = core
        self.streams = streams
        self.isSecure = isSecure
        self.relayLoop = relayLoop
        self.eventLoop = eventLoop
        gate = RelayAPIGate(host: configuration.host, token: configuration.token)
    }

    /// TCP_USER_TIMEOUT in milliseconds, which NIO has no name for (linux/tcp.h).
    private static let userTimeout = ChannelOptions.socket(SocketOptionLevel(IPPROTO_TCP), SocketOptionName(18))

    /// The listening channel: closed, it ends the API; connections end with it.
    func bind() async throws -> any Channel {
        let limits = configuration.limits
        let channel = try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 16)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            // A listener that vanished does not hold its place.
            .childChannelOption(Self.userTimeout, value: 10_000)
            // What the kernel keeps for a listener that does not read is bounded as well.
            .childChannelOption(.socketOption(.so_sndbuf), value: SocketOptionValue(limits.writeHighWater))
            .childChannelOption(
                .writeBufferWaterMark, value: .init(low: limits.writeHighWater / 4, high: limits.writeHighWater)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.admit(channel) }
            }
            .bind(host: configuration.host, port: configuration.port).get()
        let pause = TimeAmount(limits.ping)
        try await eventLoop.submit {
            self.ticker = self.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { [weak self] _ in
                self?.ping()
            }
        }.get()
        return channel
    }

    /// Ends everything that still goes on.
    func stop() async {
        try? await eventLoop.submit {
            self.ticker?.cancel()
            for listener in self.listeners.values { listener.endEvents() }
        }.get()
    }

    private func admit(_ channel: any Channel) throws {
        let share = NetworkAddress.share(ofClient: channel.remoteAddress?.ipAddress ?? "")
        guard connections < configuration.limits.connections,
            asking[share, default: 0] < configuration.limits.connectionsPerAddress
        else { throw ChannelError.ioOnClosedChannel }
        connections += 1
        asking[share, default: 0] += 1
        let connection = RelayAPIConnection(server: self) { self.askedEnough(share) }
        channel.closeFuture.whenComplete { _ in
            self.connections -= 1
            connection.leave()
        }
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = configuration.limits.headBytes
        decoding.maxHeaderListSize = configuration.limits.headBytes
        decoding.maxHeaderFieldCount = 64
        let pipeline = channel.pipeline.syncOperations
        let limits = configuration.limits
        // Head, body, and the headers of its chunks: one connection asks once.
        try pipeline.addHandler(InputBound(bytes: limits.targetBytes + limits.headBytes + 2 * limits.bodyBytes))
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(connection)
    }

    private func askedEnough(_ share: String) {
        guard let count = asking[share] else { return }
        asking[share] = count > 1 ? count - 1 : nil
    }

    // MARK: Orders

    func answer(_ order: RelayOrder, body: [UInt8]) -> EventLoopFuture<RelayAPIAnswer> {
        let (core, streams) = (self.core, self.streams)
        switch order {
        case .metrics:
            return ask { core.streamsDocument() }.map {
                .metrics(RelayMetrics.text($0.statistics, $0.state, streams: streams))
            }
        case .streams:
            return ask { core.streamsDocument() }.map { .json($0) }
        case .connections:
            return ask { core.connectionList() }.map { .json(RelayConnectionsDocument(connections: $0)) }
        case .kick(let id):
            return ask { core.kick(id) }.map { document in
                document.map { .json($0) } ?? .problem(.notFound("no connection with this number publishes or plays"))
            }
        case .kickPublisher(let stream):
            return ask { core.kickPublisher(of: stream) }.map { result in
                switch result {
                case .success(let document): .json(document)
                case .failure(let problem): .problem(problem)
                }
            }
        case .drain:
            do throws(RelayProblem) {
                let order = try RelayDrainRequest.parse(body, isSecure: isSecure)
                return ask { core.drain(order) }.map { .json($0) }
            } catch {
                return eventLoop.makeSucceededFuture(.problem(error))
            }
        case .events:
            return eventLoop.makeSucceededFuture(.problem(Self.tooManyListeners))
        }
    }

    private func ask<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> EventLoopFuture<Value> {
        relayLoop.submit(body).hop(to: eventLoop)
    }

    static let tooManyListeners = RelayProblem(
        503, what: "no events", why: "the maximum number of listeners is reached",
        hint: "end another listener, or ask again later")

    // MARK: Listeners

    /// False when there are enough. `isReady` is called when no event will be missed any more.
    func listen(_ listener: RelayAPIConnection, isReady: @escaping @Sendable () -> Void) -> Bool {
        guard listeners.count < configuration.limits.listeners else { return false }
        listeners[ObjectIdentifier(listener)] = listener
        let (core, loop) = (self.core, eventLoop)
        // Held by the relay until the last listener went.
        ask { core.onEvent = { event in loop.execute { self.broadcast(event) } } }.whenSuccess(isReady)
        return true
    }

    func listenNoMore(_ listener: RelayAPIConnection) {
        guard listeners.removeValue(forKey: ObjectIdentifier(listener)) != nil, listeners.isEmpty else { return }
        let core = self.core
        relayLoop.execute { core.onEvent = nil }
    }

    private func broadcast(_ event: RelayEvent) {
        let text = RelayAPIAnswer.event(event)
        for listener in listeners.values { listener.deliver(text) }
    }

    private func ping() {
        for listener in listeners.values { listener.ping() }
    }
}

/// Closes a connection that sends more than any request has.
final class InputBound: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var left: Int

    init(bytes: Int) {
        left = bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= unwrapInboundIn(data).readableBytes
        guard left >= 0 else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
