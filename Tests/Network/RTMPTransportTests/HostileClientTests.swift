import AMF0
import ChannelTestSupport
import NIOCore
import NIOPosix
import RTMP
import Testing

@testable import RTMPTransport

/// The bad connection closes, and the good one beside it notices nothing.
@Suite(.serialized) struct HostileClientTests {
    static let handshake: [UInt8] = [3] + [UInt8](repeating: 0, count: 2 * 1536)

    /// A chunk with all its fields.
    static func message(_ type: UInt8, length: Int? = nil, _ body: [UInt8]) -> [UInt8] {
        let length = length ?? body.count
        return [2, 0, 0, 0, UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255), type, 0, 0, 0, 0]
            + body
    }

    private static let connectName: [UInt8] = [2, 0, 7] + "connect".utf8 + [0, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0]
    static let bombs: [(name: String, bytes: [UInt8])] = [
        ("version 6", [6]),
        ("HTTP", Array("GET / HTTP/1.1\r\n\r\n".utf8)),
        ("chunk size 0", handshake + message(1, [0, 0, 0, 0])),
        ("chunk size 2^31", handshake + message(1, [0x80, 0, 0, 0])),
        ("chunk size 2^31-1", handshake + message(1, [0x7F, 0xFF, 0xFF, 0xFF])),
        ("16 MiB declared", handshake + message(9, length: 0xFF_FFFF, [1, 2, 3])),
        ("format 3 first", handshake + [0xC3, 1, 2, 3]),
        (
            "AMF depth",
            handshake + message(20, connectName + Array([[UInt8]](repeating: [3, 0, 1, 0x61], count: 25).joined()))
        ),
        ("AMF count", handshake + message(20, connectName + [10, 0xFF, 0xFF, 0xFF, 0xFF])),
        ("no command", handshake + message(20, [5, 5, 5])),
        ("short control", handshake + message(4, [0])),
    ]

    @Test(arguments: bombs.map(\.name))
    func `a hostile client is closed and a good one goes on`(name: String) async throws {
        let bomb = try #require(Self.bombs.first { $0.name == name })
        let server = try await TestServer.start {
            // No deadline closes it, and none can meet the good one.
            $0.session.handshakeDeadline = 60_000_000_000
            $0.session.requestDeadline = 60_000_000_000
        }
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        let peer = try await RawPeer.connect(port: server.port)
        peer.send(bomb.bytes)
        try await peer.log.next { $0 == .closed }
        try await server.log.next { event in
            if case .closed(let error) = event, case .session(.protocolViolation)? = error?.cause {
                true
            } else {
                false
            }
        }
        try await publisher.send(.video, 1, [0x17, 1])
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: 1, streamID: 1, payload: [0x17, 1]))
        }
        await publisher.stop()
        await server.close()
    }

    @Test(arguments: [0, 1, 1000, 1537, 3072, 3073])
    func `a client that stops after so many bytes of the handshake is closed at the deadline`(length: Int) async throws
    {
        let server = try await TestServer.start {
            // A whole handshake may take its time here: it is the request that is missing then.
            $0.session.handshakeDeadline = length == 3073 ? 60_000_000_000 : 300_000_000
            $0.session.requestDeadline = 300_000_000
        }
        let peer = try await RawPeer.connect(port: server.port)
        if length > 0 { peer.send(Array(Self.handshake.prefix(length))) }
        try await peer.log.next { $0 == .closed }
        let phase: SessionPhase = length == 3073 ? .connect : .handshake
        try await server.log.next { $0 == .closed(RTMPTransportError(.session(.timedOut(phase)))) }
        await peer.close()
        await server.close()
    }

    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `random bytes behind a handshake end in silence or a close, never in harm`(seed: UInt64) async throws {
        let server = try await TestServer.start { $0.session.requestDeadline = 300_000_000 }
        let peer = try await RawPeer.connect(port: server.port)
        var state = seed
        let noise = (0..<4096).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        peer.send(Self.handshake + noise)
        try await peer.log.next { $0 == .closed }
        await server.close()
        // One with deadlines that a good client keeps on a busy machine as well.
        let next = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: next.url(), delegate: events)
        try await events.started()
        await publisher.stop()
        await next.close()
    }

    @Test func `a client that makes the server answer and reads nothing is closed`() async throws {
        let server = try await TestServer.start {
            $0.session.maxCommands = .max
            $0.session.maxCommandBytes = .max
        }
        let peer = try await RawPeer.connect(port: server.port, reading: false)
        var writer = ChunkWriter()
        var bytes = Self.handshake
        // Far more than a megabyte of answers.
        for _ in 0..<60_000 { writer.append(RTMPCommand("releaseStream", transactionID: 2), streamID: 0, to: &bytes) }
        peer.send(bytes)
        let event = try await server.log.next { if case .closed = $0 { true } else { false } }
        guard case .closed(let error) = event, case .session(.answersUnread(let waiting))? = error?.cause else {
            Issue.record("\(event)")
            return
        }
        #expect(waiting > 1 << 20 && waiting < 2 << 20)
        await peer.close()
        await server.close()
    }

    @Test func `a server that makes a client answer and reads nothing is left`() async throws {
        // Each bandwidth differs from the one before it, and wants a window in answer.
        let flood = (1...100_000).flatMap { Self.message(6, [0, UInt8($0 & 1), 1, 1, 2]) }
        let listener = try await ServerBootstrap(group: Timers.loop)
            .serverChannelOption(.socketOption(.so_rcvbuf), value: 4096)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.execute {
                    channel.writeAndFlush(ByteBuffer(bytes: Self.handshake + flood), promise: nil)
                }
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = UInt16(listener.localAddress?.port ?? 0)
        let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: port, app: "live", streamName: "cam")
        let publishing = PublisherLog()
        let watching = PlayerLog()
        // What it sends is read at whatever speed the machine has, and nothing of it answers a command.
        var publisher = PublisherSession.Configuration()
        publisher.commandDeadline = 600_000_000_000
        var player = PlayerSession.Configuration()
        player.commandDeadline = 600_000_000_000
        _ = RTMPPublisherConnection.connect(url: url, session: publisher, delegate: publishing)
        _ = RTMPPlayerConnection.connect(url: url, session: player, delegate: watching)
        for error in [try await publishing.closed(), try await watching.closed()] {
            guard case .session(.answersUnread) = error.cause else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.retry == .transient)
        }
        try await listener.close().get()
    }

    @Test func `connections per address are limited, and who has asked for nothing makes room`() async throws {
        let server = try await TestServer.start { $0.connectionsPerAddress = 2 }
        let first = try await RawPeer.connect(port: server.port)
        let second = try await RawPeer.connect(port: server.port)
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        try await first.log.next { $0 == .closed }
        let other = PublisherLog()
        let next = RTMPPublisherConnection.connect(url: server.url("other"), delegate: other)
        try await other.started()
        try await second.log.next { $0 == .closed }
        // No one is left who may be dropped.
        let third = try await RawPeer.connect(port: server.port)
        try await third.log.next { $0 == .closed }
        await publisher.stop()
        await next.stop()
        await server.close()
    }

    /// 60 players that each declare seven messages and never end them: the relay held a megabyte for each.
    @Test func `a player that begins messages and never ends them is closed`() async throws {
        let server = try await TestServer.start()
        var writer = ChunkWriter()
        var bytes = Self.handshake
        writer.append(
            RTMPCommand("connect", transactionID: 1, commandObject: .object(["app": .string("live")])), streamID: 0,
            to: &bytes)
        writer.append(RTMPCommand("createStream", transactionID: 2), streamID: 0, to: &bytes)
        writer.append(RTMPCommand("play", transactionID: 3, arguments: [.string("same")]), streamID: 1, to: &bytes)
        bytes += Self.message(1, [0, 2, 0, 0])
        for stream in UInt8(10)..<17 {
            bytes += [stream, 0, 0, 0, 4, 0, 0, 9, 0, 0, 0, 0] + [UInt8](repeating: 65, count: 131_072)
        }
        for _ in 0..<60 {
            let peer = try await RawPeer.connect(port: server.port)
            peer.send(bytes)
            try await peer.log.next { $0 == .closed }
            let event = try await server.log.next { if case .closed = $0 { true } else { false } }
            guard case .closed(let error) = event,
                case .session(.protocolViolation(.messageTooLong(262_144, 4096, _)))? = error?.cause
            else {
                Issue.record("\(event)")
                continue
            }
        }
        await server.close()
    }

    @Test func `a client that never speaks TLS is closed`() async throws {
        let fixtures = #filePath.prefix(upTo: #filePath.lastIndex(of: "/")!) + "/Fixtures/"
        let tls = RTMPServerTLS(
            certificateFile: String(fixtures + "localhost.pem"), privateKeyFile: String(fixtures + "localhost-key.pem"))
        let server = try await TestServer.start(tls: tls) { $0.tlsDeadline = .milliseconds(300) }
        let silent = try await RawPeer.connect(port: server.port)
        try await silent.log.next { $0 == .closed }
        let plain = try await RawPeer.connect(port: server.port)
        plain.send(Self.handshake)
        try await plain.log.next { $0 == .closed }
        await server.close()
    }
}
