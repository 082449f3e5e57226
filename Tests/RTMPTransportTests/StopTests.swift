import NIOCore
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

/// `stop()` returns within 1 s in every state, and the delegate hears nothing more.
@Suite(.serialized) struct StopTests {
    private func expectQuick(_ publisher: RTMPPublisherConnection, _ events: PublisherLog) async {
        let before = events.log.all.count
        let time = await elapsed { await publisher.stop() }
        #expect(time <= .seconds(1))
        #expect(events.log.all.count == before)
        let again = await elapsed { await publisher.stop() }
        #expect(again < .milliseconds(100), "the second time there is nothing to do")
    }

    @Test func `before the connection stands`() async throws {
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: 9, app: "live", streamName: "cam"), delegate: events)
        await publisher.stop()
        #expect(events.log.all.isEmpty)
    }

    @Test(arguments: [RTMPURL.Scheme.rtmp, .rtmps])
    func `while a server is silent`(scheme: RTMPURL.Scheme) async throws {
        let listener = try await SilentListener.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: scheme, host: "127.0.0.1", port: listener.port, app: "live", streamName: "cam"),
            delegate: events)
        try await listener.log.next { if case .bytes = $0 { true } else { false } }
        await expectQuick(publisher, events)
        try await listener.log.next { $0 == .closed }
        try await listener.channel.close().get()
    }

    @Test func `while publish waits for its answer`() async throws {
        let server = try await TestServer.start(.silence)
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await server.log.next { if case .publish = $0 { true } else { false } }
        await expectQuick(publisher, events)
        await server.close()
    }

    @Test func `while media flow; the server learns of the end`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        try await publisher.send(.video, 0, [0x17, 1, 0, 0, 0])
        await expectQuick(publisher, events)
        try await server.log.next { $0 == .finished }
        await server.close()
    }

    @Test func `while the server takes nothing more`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        let thaw = server.freeze()
        try await publisher.eventLoop.submit {
            while publisher.isWritable {
                publisher.write(.video, timestamp: 0, payload: [UInt8](repeating: 3, count: 65_536)[...])
                publisher.flush()
            }
        }.get()
        await expectQuick(publisher, events)
        thaw()
        await server.close()
    }

    @Test func `a player stops as quickly`() async throws {
        let server = try await TestServer.start()
        let events = PlayerLog()
        let player = RTMPPlayerConnection.connect(url: server.url(), delegate: events)
        try await events.log.next { $0 == .started }
        let thaw = server.freeze()
        let time = await elapsed { await player.stop() }
        #expect(time <= .seconds(1))
        thaw()
        await server.close()
    }
}
