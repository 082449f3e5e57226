import ChannelTestSupport
import NIOCore
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

/// `stop()` waits for no peer longer than its own deadline, in every state, and the delegate hears nothing more.
///
/// That it takes less than 1 s on a machine that runs us in time follows from the deadline. What is measured here is
/// printed, and held at five times of it, because this machine may be busy.
@Suite(.serialized) struct StopTests {
    private func expectEnd(_ publisher: RTMPPublisherConnection, _ events: PublisherLog) async {
        let before = events.log.all.count
        let time = await elapsed { await publisher.stop() }
        print("stop of a publisher: \(time)")
        #expect(time < .seconds(5), "promised is one second")
        #expect(events.log.all.count == before)
        await publisher.stop()  // the second time there is nothing to do
        #expect(events.log.all.count == before)
    }

    @Test func `the deadline of a stop is below a second`() {
        let configuration = RTMPTransportConfiguration()
        #expect(min(configuration.drain, configuration.stopDeadline) < .seconds(1))
    }

    @Test func `before the connection stands`() async throws {
        // Nothing but the stop can end this one: the relay's machine does not answer.
        let hole = BlackHole(answersSYN: false)
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(
            url: RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: hole.port, app: "live", streamName: "cam"),
            delegate: events)
        await expectEnd(publisher, events)
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
        await expectEnd(publisher, events)
        try await listener.log.next { $0 == .closed }
        try await listener.channel.close().get()
    }

    @Test func `while publish waits for its answer`() async throws {
        let server = try await TestServer.start(.silence)
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await server.log.next { if case .publish = $0 { true } else { false } }
        await expectEnd(publisher, events)
        await server.close()
    }

    @Test func `while media flow; the server learns of the end`() async throws {
        let server = try await TestServer.start()
        let events = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: events)
        try await events.started()
        try await publisher.send(.video, 0, [0x17, 1, 0, 0, 0])
        await expectEnd(publisher, events)
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
        await expectEnd(publisher, events)
        thaw()
        await server.close()
    }

    @Test func `a player stops in the same way`() async throws {
        let server = try await TestServer.start()
        let events = PlayerLog()
        let player = RTMPPlayerConnection.connect(url: server.url(), delegate: events)
        try await events.log.next { $0 == .started }
        let thaw = server.freeze()
        let time = await elapsed { await player.stop() }
        print("stop of a player: \(time)")
        #expect(time < .seconds(5), "promised is one second")
        thaw()
        await server.close()
    }
}
