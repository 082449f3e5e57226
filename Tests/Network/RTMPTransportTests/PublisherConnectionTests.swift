import ChannelTestSupport
import Glibc
import NIOCore
import NIOPosix
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

@Suite(.serialized) struct PublisherConnectionTests {
    @Test func `media arrive byte for byte, from small to large and across 2^24 ms`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url("cam?key=abc"), delegate: events)
        try await events.started()
        try await server.log.next { $0 == .publish(app: "live", name: "cam", key: "abc") }
        let frames: [(MessageType, UInt32, [UInt8])] = [
            (.dataAMF0, 0, [2, 0, 1, 0x61]), (.video, 0, [UInt8](repeating: 7, count: 300_000)),
            (.audio, 16_777_214, [0xAF, 1, 2]), (.video, 16_777_215, [0x27] + [UInt8](repeating: 9, count: 9000)),
            (.video, 4_294_967_295, [0x27, 1]), (.audio, 3, []),
        ]
        for (type, time, payload) in frames { try await publisher.send(type, time, payload) }
        for (type, time, payload) in frames {
            let event = try await server.log.next { if case .message = $0 { true } else { false } }
            #expect(event == .message(RTMPMessage(type: type, timestamp: time, streamID: 1, payload: payload)))
        }
        await publisher.stop()
        try await server.log.next { $0 == .finished }
        await server.close()
    }

    @Test func `what a peer that sleeps did not take follows in order, whoever held it`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url("cam"), delegate: events)
        try await events.started()
        @Sendable func payload(_ number: Int) -> [UInt8] {
            (0..<(number * 7919 % 6_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
        }
        // Some whole, some in part, some not at all by the kernel: past the channel, and through it.
        let wake = server.freeze()
        let written = try await publisher.eventLoop.submit {
            var count = 0
            while publisher.isWritable, count < 5000 {
                publisher.write(.video, timestamp: UInt32(count), payload: payload(count)[...])
                publisher.flush()
                count += 1
            }
            return count
        }.get()
        #expect(written > 10 && written < 5000, "the peer's kernel must be full: \(written)")
        wake()
        for number in 0..<written {
            let event = try await server.log.next { if case .message = $0 { true } else { false } }
            let expected = RTMPMessage(
                type: .video, timestamp: UInt32(number), streamID: 1, payload: payload(number))
            try #require(event == .message(expected), "message \(number)")
        }
        // And what comes after it goes past the channel again.
        try await publisher.send(.video, 100_000, [1, 2, 3])
        let last = try await server.log.next { if case .message = $0 { true } else { false } }
        #expect(last == .message(RTMPMessage(type: .video, timestamp: 100_000, streamID: 1, payload: [1, 2, 3])))
        await publisher.stop()
        await server.close()
    }

    @Test func `prefix and payload are one message, and a batch is one write`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        try await publisher.eventLoop.submit {
            let before = publisher.metrics.bytesWritten
            publisher.write(.video, timestamp: 1, prefix: [0x17, 1, 0, 0, 0], payload: [1, 2])
            publisher.write(.video, timestamp: 2, prefix: [0x27, 1, 0, 0, 0], payload: [3])
            #expect(publisher.metrics.bytesWritten == before)
            publisher.flush()
            #expect(publisher.metrics.bytesWritten > before)
        }.get()
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: 1, streamID: 1, payload: [0x17, 1, 0, 0, 0, 1, 2]))
        }
        try await server.log.next {
            $0 == .message(RTMPMessage(type: .video, timestamp: 2, streamID: 1, payload: [0x27, 1, 0, 0, 0, 3]))
        }
        await publisher.stop()
        await server.close()
    }

    @Test func `a taken name is reported as such`() async throws {
        let server = try await TestServer.start(.reject("NetStream.Publish.BadName"))
        let events = PublisherLog()
        _ = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        let error = try await events.closed()
        #expect(error == RTMPTransportError(.session(.badName)))
        #expect(error.retry == .badName)
        await server.close()
    }

    @Test func `no one there, and no such host, are told apart`() async throws {
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        let refused = PublisherLog()
        _ = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: port, app: "live", streamName: "secret"),
            delegate: refused)
        let error = try await refused.closed()
        #expect(error == RTMPTransportError(.connectFailed("Connection refused")))
        #expect(!"\(error)".contains("secret"))

        let unknown = PublisherLog()
        _ = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmp, host: "relay.invalid", port: port, app: "live", streamName: "secret"),
            delegate: unknown)
        let second = try await unknown.closed()
        // Without any resolver the look-up itself may not end in time.
        let expected: [RTMPTransportError.Cause] = [.unknownHost("relay.invalid"), .timedOut(.connect)]
        #expect(expected.contains(second.cause))
    }

    @Test func `a server that says nothing runs into the handshake deadline`() async throws {
        let listener = try await SilentListener.start()
        let events = PublisherLog()
        var session = PublisherSession.Configuration()
        session.handshakeDeadline = 300_000_000
        _ = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: listener.port, app: "live", streamName: "cam"),
            session: session, delegate: events)
        #expect(try await events.closed() == RTMPTransportError(.session(.timedOut(.handshake))))
        try await listener.log.next { $0 == .closed }
        try await listener.channel.close().get()
    }

    /// That the verdict falls within 5 s is proven in virtual time (`PublisherSessionTests`); here it is printed.
    @Test func `a relay that stands still is noticed by our own rules, and stop still ends`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        // It has answered the ping that went out with createStream, so that silence means something.
        let answers = try await publisher.eventLoop.submit { publisher.relayAnswersPings }.get()
        #expect(answers)
        let feed = publisher.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(40)) { _ in
            guard publisher.isWritable else { return }
            publisher.write(.video, timestamp: 0, payload: [UInt8](repeating: 1, count: 16_000)[...])
            publisher.flush()
        }
        defer { feed.cancel() }
        try await server.log.next { if case .message = $0 { true } else { false } }
        let thaw = server.freeze()
        let noticed = try await elapsed {
            let error = try await events.closed(within: .seconds(60))
            guard case .session(let reason) = error.cause else {
                Issue.record("not the session's verdict: \(error)")
                return
            }
            switch reason {
            case .pingUnanswered, .stalled: break
            default: Issue.record("another reason: \(reason)")
            }
        }
        print("a relay that stands still: noticed after \(noticed)")
        let stopped = await elapsed { await publisher.stop() }
        #expect(stopped < .seconds(5), "promised is one second")
        thaw()
        await server.close()
    }

    @Test func `what the peer does not take stays with the caller`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        let thaw = server.freeze()
        let frame = [UInt8](repeating: 3, count: 8192)
        // Far more than a kernel takes unread; the bound is what this test is about.
        let written = try await publisher.eventLoop.submit {
            var frames = 0
            while publisher.isWritable, frames < 4096 {
                publisher.write(.video, timestamp: 0, payload: frame[...])
                publisher.flush()
                frames += 1
            }
            return frames
        }.get()
        #expect(written < 4096)
        thaw()
        try await events.log.next { $0 == .writable }
        for _ in 0..<written {
            try await server.log.next { if case .message = $0 { true } else { false } }
        }
        await publisher.stop()
        await server.close()
    }

    @Test func `progress of TCP and round trips are measured`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        try await publisher.send(.video, 0, [UInt8](repeating: 1, count: 50_000))
        let measured = try await poll(within: .seconds(60)) {
            let metrics = try await publisher.eventLoop.submit { publisher.metrics }.get()
            return metrics.bytesAcknowledged >= metrics.bytesWritten && metrics.bytesWritten > 50_000
                && metrics.pingRoundTrip != nil && metrics.tcpRoundTrip > 0 && metrics.bytesNotSent == 0
        }
        #expect(measured)
        await publisher.stop()
        await server.close()
    }

    /// Asks again and again, at the pace of the connection's own tick, until it is so.
    private func poll(within deadline: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + deadline
        while ContinuousClock.now < end {
            if try await condition() { return true }
            try await Timers.loop.scheduleTask(in: .milliseconds(20)) {}.futureResult.get()
        }
        return false
    }
}
