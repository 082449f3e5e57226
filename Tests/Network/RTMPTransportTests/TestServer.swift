import ChannelTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RTMP

@testable import RTMPTransport

/// A server that accepts what its policy accepts, reports what happened, and passes media on to players.
final class TestServer: RTMPServerDelegate, @unchecked Sendable {
    enum Event: Sendable, Equatable {
        case publish(app: String, name: String, key: String?)
        case play(name: String)
        case message(RTMPMessage)
        case finished
        case closed(RTMPTransportError?)
        case certificate(RTMPTransportError?)
    }

    enum Policy: Sendable { case accept, reject(String), silence }

    let log = EventLog<Event>()
    /// A loop of its own, so that a test can hold it up as SIGSTOP would hold up a process.
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    private let policy: Policy
    private var players: [RTMPServerConnection] = []
    private let bound = NIOLockedValueBox<RTMPServer?>(nil)

    init(_ policy: Policy = .accept) {
        self.policy = policy
    }

    static func start(
        _ policy: Policy = .accept, tls: RTMPServerTLS? = nil,
        _ change: (inout RTMPServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        let delegate = TestServer(policy)
        var configuration = RTMPServerConfiguration(port: 0, tls: tls)
        change(&configuration)
        let server = try await RTMPServer.bind(configuration, on: delegate.loop, delegate: delegate)
        delegate.bound.withLockedValue { $0 = server }
        return delegate
    }

    var port: Int { bound.withLockedValue { $0?.port ?? 0 } }

    func url(_ name: String = "cam", scheme: RTMPURL.Scheme = .rtmp, host: String = "127.0.0.1") -> RTMPURL {
        RTMPURL(scheme: scheme, host: host, port: UInt16(port), app: "live", streamName: name)
    }

    func close() async {
        let server = bound.withLockedValue { $0 }
        await server?.close()
    }

    /// Holds the server up until the returned function is called.
    func freeze() -> @Sendable () -> Void {
        let gate = DispatchSemaphore(value: 0)
        loop.execute { gate.wait() }
        return { gate.signal() }
    }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        log.add(.publish(app: request.app, name: request.streamName, key: request.queryValue("key")))
        switch policy {
        case .accept: connection.acceptPublish()
        case .reject(let code): connection.rejectPublish(code: code, description: "no")
        case .silence: break
        }
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        log.add(.play(name: request.streamName))
        switch policy {
        case .accept:
            connection.acceptPlay()
            connection.flush()
            players.append(connection)
        case .reject(let code): connection.rejectPlay(code: code, description: "no")
        case .silence: break
        }
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        log.add(.message(message))
        for player in players {
            var chunks: [UInt8] = []
            ChunkWriter.append(
                message.type, timestamp: message.timestamp, streamID: player.streamID,
                chunkStreamID: message.type.mediaChunkStreamID, chunkSize: player.chunkSize,
                payload: message.payload[...], to: &chunks)
            player.write(ByteBuffer(bytes: chunks))
            player.flush()
        }
    }

    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}

    func connectionFinished(_ connection: RTMPServerConnection) {
        players.removeAll { $0 === connection }
        log.add(.finished)
    }

    func serverChangedCertificate(error: RTMPTransportError?) { log.add(.certificate(error)) }

    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        players.removeAll { $0 === connection }
        log.add(.closed(error))
    }
}

/// Reports what happens to a publisher.
final class PublisherLog: RTMPPublisherDelegate {
    enum Event: Sendable, Equatable {
        case started, writable
        case reconnect(String?)
        case closed(RTMPTransportError)
    }

    let log = EventLog<Event>()

    func publisherStarted(_ publisher: RTMPPublisherConnection) { log.add(.started) }
    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) { log.add(.writable) }
    func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?) {
        log.add(.reconnect(tcURL))
    }
    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) { log.add(.closed(error)) }

    func started() async throws { try await log.next { $0 == .started } }

    func closed(within deadline: TimeAmount = .seconds(600)) async throws -> RTMPTransportError {
        let event = try await log.next(within: deadline) { if case .closed = $0 { true } else { false } }
        guard case .closed(let error) = event else { preconditionFailure("the filter above") }
        return error
    }
}

/// Reports what happens to a player.
final class PlayerLog: RTMPPlayerDelegate {
    enum Event: Sendable, Equatable {
        case started, ended
        case message(RTMPMessage)
        case closed(RTMPTransportError)
    }

    let log = EventLog<Event>()

    func playerStarted(_ player: RTMPPlayerConnection) { log.add(.started) }
    func player(_ player: RTMPPlayerConnection, received message: RTMPMessage) { log.add(.message(message)) }
    func playerStreamEnded(_ player: RTMPPlayerConnection) { log.add(.ended) }
    func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError) { log.add(.closed(error)) }

    func message() async throws -> RTMPMessage {
        let event = try await log.next { if case .message = $0 { true } else { false } }
        guard case .message(let message) = event else { preconditionFailure("the filter above") }
        return message
    }

    func closed(within deadline: TimeAmount = .seconds(600)) async throws -> RTMPTransportError {
        let event = try await log.next(within: deadline) { if case .closed = $0 { true } else { false } }
        guard case .closed(let error) = event else { preconditionFailure("the filter above") }
        return error
    }
}

extension RTMPPublisherConnection {
    /// Writes and flushes from a test.
    func send(_ type: MessageType, _ timestamp: UInt32, _ payload: [UInt8]) async throws {
        try await eventLoop.submit {
            _ = self.write(type, timestamp: timestamp, payload: payload[...])
            self.flush()
        }.get()
    }
}

/// A peer that speaks whatever bytes a test gives it, or none.
final class RawPeer: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    enum Event: Sendable, Equatable {
        case connected
        case bytes(Int)
        case closed
    }

    let log = EventLog<Event>()
    private var channel: (any Channel)?

    static func connect(port: Int, reading: Bool = true) async throws -> RawPeer {
        let peer = RawPeer()
        var bootstrap = ClientBootstrap(group: Timers.loop)
        if !reading {
            bootstrap = bootstrap.channelOption(.autoRead, value: false)
                .channelOption(.socketOption(.so_rcvbuf), value: 4096)
        }
        peer.channel =
            try await bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(peer) }
            }
            .connect(host: "127.0.0.1", port: port).get()
        return peer
    }

    func send(_ bytes: [UInt8]) {
        channel?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func close() async {
        try? await channel?.close().get()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        log.add(.bytes(unwrapInboundIn(data).readableBytes))
    }

    func channelInactive(context: ChannelHandlerContext) { log.add(.closed) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Accepts connections and never says anything.
struct SilentListener {
    let channel: any Channel
    let log: EventLog<RawPeer.Event>
    var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }

    static func start() async throws -> SilentListener {
        let log = EventLog<RawPeer.Event>()
        let channel = try await ServerBootstrap(group: Timers.loop)
            .childChannelInitializer { channel in
                log.add(.connected)
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Ear(log: log))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return SilentListener(channel: channel, log: log)
    }

    private init(channel: any Channel, log: EventLog<RawPeer.Event>) {
        self.channel = channel
        self.log = log
    }

    private final class Ear: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        let log: EventLog<RawPeer.Event>
        init(log: EventLog<RawPeer.Event>) { self.log = log }
        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            log.add(.bytes(unwrapInboundIn(data).readableBytes))
        }
        func channelInactive(context: ChannelHandlerContext) { log.add(.closed) }
    }
}
