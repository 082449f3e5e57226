import ChannelTestSupport
import Foundation
import NIOCore
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

/// What the kernel says of a publisher's connection.
@Suite(.timeLimit(.minutes(15))) struct LinkLookTests {
    private static let fixtures = #filePath.prefix(upTo: #filePath.lastIndex(of: "/")!) + "/Fixtures/"

    private func publisher(
        to server: TestServer, _ scheme: RTMPURL.Scheme = .rtmp, congestionControl: String? = nil
    ) async throws -> RTMPPublisherConnection {
        var transport = RTMPTransportConfiguration()
        transport.congestionControl = congestionControl
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: server.url(scheme: scheme), tls: RTMPClientTLS(authorityFile: String(Self.fixtures + "authority.pem")),
            transport: transport, delegate: events)
        try await events.started()
        return publisher
    }

    private func look(_ publisher: RTMPPublisherConnection) async throws -> RTMPTransportMetrics {
        try await publisher.eventLoop.flatSubmit {
            let promise = publisher.eventLoop.makePromise(of: RTMPTransportMetrics.self)
            publisher.look { promise.succeed(publisher.metrics) }
            return promise.futureResult
        }.get()
    }

    @Test(arguments: [false, true])
    func `each byte is with the peer, or on its way`(isSecure: Bool) async throws {
        let tls = RTMPServerTLS(
            certificateFile: String(Self.fixtures + "localhost.pem"),
            privateKeyFile: String(Self.fixtures + "localhost-key.pem"))
        let server = try await TestServer.start(tls: isSecure ? tls : nil)
        let publisher = try await publisher(to: server, isSecure ? .rtmps : .rtmp)
        let wake = server.freeze()
        // More than the peer's kernel takes, so that there is something in each of ours.
        let size = 4 << 20
        let count: UInt32 = 4
        let payload = [UInt8](repeating: 7, count: size)
        for number in 1...count { try await publisher.send(.video, number, payload) }
        let held = try await look(publisher)
        #expect(held.bytesOutstanding > 16 << 10)
        #expect(held.bytesDelivered < held.bytesWritten)
        #expect(held.bytesOutstanding + held.bytesDelivered >= held.bytesWritten)
        if !isSecure { #expect(held.bytesOutstanding + held.bytesDelivered == held.bytesWritten) }
        wake()
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: count, streamID: 1, payload: payload))
        }
        var all = try await look(publisher)
        // The last acknowledgement may take its time.
        while all.bytesOutstanding > 0 { all = try await look(publisher) }
        #expect(all.bytesDelivered >= all.bytesWritten && all.bytesDelivered >= UInt64(size) * UInt64(count))
        #expect(all.leastRoundTrip > 0 && all.leastRoundTrip < 60_000_000_000)
        await publisher.stop()
        await server.close()
    }

    @Test func `a look takes nothing from the ticks`() async throws {
        let server = try await TestServer.start()
        let publisher = try await publisher(to: server)
        try await publisher.send(.video, 1, [UInt8](repeating: 7, count: 1000))
        var metrics = try await look(publisher)
        while metrics.bytesOutstanding > 0 { metrics = try await look(publisher) }
        // Until a tick has seen it.
        while metrics.bytesAcknowledged < metrics.bytesDelivered { metrics = try await look(publisher) }
        #expect(try await publisher.eventLoop.submit { publisher.deliveredUntil }.get() != nil)
        await publisher.stop()
        await server.close()
    }

    @Test func `a kernel's rule is used where it has it, and named`() async throws {
        let server = try await TestServer.start()
        // Every kernel has it.
        let publisher = try await publisher(to: server, congestionControl: "reno")
        #expect(try await publisher.eventLoop.submit { publisher.link.congestionControl }.get() == "reno")
        await publisher.stop()
        await server.close()
    }

    @Test(arguments: [nil, "no-such-rule", "a-name-that-is-longer-than-kernels-take", ""])
    func `one that no kernel has leaves a connection as it is`(name: String?) async throws {
        let server = try await TestServer.start()
        let publisher = try await publisher(to: server, congestionControl: name)
        let usual = try String(contentsOfFile: "/proc/sys/net/ipv4/tcp_congestion_control", encoding: .utf8)
        #expect(
            try await publisher.eventLoop.submit { publisher.link.congestionControl }.get()
                == usual.trimmingCharacters(in: .whitespacesAndNewlines))
        try await publisher.send(.video, 1, [1, 2, 3])
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: 1, streamID: 1, payload: [1, 2, 3]))
        }
        await publisher.stop()
        await server.close()
    }
}
