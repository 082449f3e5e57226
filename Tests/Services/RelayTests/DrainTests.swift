import ChannelTestSupport
import Foundation
import Logging
import RTMP
import RTMPTransport
import TestSupport
import Testing

@testable import Relay

/// The decision, without a socket.
struct DrainTests {
    @Test func `who is there is asked, then closed, and the end is reported once`() {
        var drain = Drain()
        #expect(!drain.isOn && drain.timePassed(isEmpty: true, at: 5) == [])
        let order = Drain.Order(to: "rtmp://b/live", time: 100)
        #expect(drain.ordered(order, isEmpty: false, at: 1000) == [.askToMove(to: "rtmp://b/live")])
        #expect(drain.isOn && drain.name == .draining)
        #expect(drain.timePassed(isEmpty: false, at: 1099) == [])
        #expect(drain.timePassed(isEmpty: false, at: 1100) == [.closeRest, .finished])
        #expect(drain.name == .drained && drain.isOn)
        #expect(drain.timePassed(isEmpty: true, at: 2000) == [])
        #expect(drain.ordered(order, isEmpty: false, at: 3000) == [], "it takes no one, so no one is there to be asked")
    }

    @Test func `it is over when no one is left`() {
        var drain = Drain()
        _ = drain.ordered(Drain.Order(to: nil, time: 100), isEmpty: false, at: 0)
        #expect(drain.timePassed(isEmpty: true, at: 1) == [.finished])
        var empty = Drain()
        #expect(empty.ordered(Drain.Order(to: nil, time: 100), isEmpty: true, at: 0) == [.finished])
    }

    @Test func `a second order takes the place of the first`() {
        var drain = Drain()
        _ = drain.ordered(Drain.Order(to: nil, time: 100), isEmpty: false, at: 0)
        #expect(
            drain.ordered(Drain.Order(to: "rtmp://c/x", time: 0), isEmpty: false, at: 50) == [
                .askToMove(to: "rtmp://c/x")
            ])
        #expect(drain.timePassed(isEmpty: false, at: 50) == [.closeRest, .finished])
    }

    @Test func `the end of time is not an end`() {
        var drain = Drain()
        _ = drain.ordered(Drain.Order(to: nil, time: 3_600_000_000_000), isEmpty: false, at: .max)
        #expect(drain.isOn)
    }

    @Test(
        arguments: [
            ("", nil, 30), ("{}", nil, 30), (#"{"to": "rtmp://b/live"}"#, "rtmp://b/live", 30),
            (#"{"to": "rtmps://[::1]:443/a/b", "seconds": 0}"#, "rtmps://[::1]:443/a/b", 0),
            (#"{"seconds": 2.5, "more": 1}"#, nil, 2.5),
        ] as [(String, String?, Double)])
    func `a request is read`(text: String, to: String?, seconds: Double) throws {
        let order = try RelayDrainRequest.parse(Array(text.utf8))
        #expect(order == Drain.Order(to: to, time: UInt64(seconds * 1e9)))
    }

    @Test(arguments: [
        "x", "[]", "null", #"{"seconds": -1}"#, #"{"seconds": 3601}"#, #"{"seconds": 1e300}"#, #"{"seconds": "1"}"#,
        #"{"to": "http://b/live"}"#, #"{"to": "rtmp://user:pw@b/live"}"#, #"{"to": "rtmp://b/live?key=x"}"#,
        #"{"to": "rtmp://b"}"#, #"{"to": "rtmp://b/a b"}"#, #"{"to": "\#u{0}"}"#, "\u{FF}",
        #"{"to": "rtmp://b/"# + String(repeating: "x", count: 1100) + #""}"#,
        String(repeating: "[", count: 16_000),
    ])
    func `what is not a request is refused with what to do`(text: String) {
        do throws(RelayProblem) {
            _ = try RelayDrainRequest.parse(Array(text.utf8))
            Issue.record("taken for a request")
        } catch {
            #expect(error.status == 400 && !error.hint.isEmpty)
            #expect(!"\(error)".contains("pw") && !"\(error)".contains("key=x"))
        }
    }

    @Test func `clients that came by TLS are not sent to a relay without`() throws {
        let plain = Array(#"{"to": "rtmp://b/live"}"#.utf8)
        _ = try RelayDrainRequest.parse(plain)
        #expect(throws: RelayProblem.self) { try RelayDrainRequest.parse(plain, isSecure: true) }
        _ = try RelayDrainRequest.parse(Array(#"{"to": "rtmps://b/live"}"#.utf8), isSecure: true)
        _ = try RelayDrainRequest.parse([], isSecure: true)
    }

    // MARK: Running relays

    private func withAPI<Result: Sendable>(_ body: (RunningRelay) async throws -> Result) async throws -> Result {
        let api = try RelayAPIConfiguration(host: "127.0.0.1", port: 0, token: RelayAPIToken(APIClient.token))
        return try await withRelay({ $0.api = api }, body)
    }

    /// One that announces that it can be asked to connect again.
    private func publishMovably(_ url: RTMPURL) async throws -> (RTMPPublisherConnection, PublisherLog) {
        let log = PublisherLog()
        var session = PublisherSession.Configuration()
        session.announcesReconnect = true
        let publisher = RTMPPublisherConnection.connect(url: url, session: session, delegate: log)
        try await log.log.next { $0 == .started }
        return (publisher, log)
    }

    private func state(_ relay: RunningRelay) async throws -> RelayStreamsDocument.State {
        try await relay.ask("GET", "/v1/streams").document(RelayStreamsDocument.self).state
    }

    @Test func `a publisher moves to another relay at a key frame, and nothing is lost`() async throws {
        try await withAPI { old in
            try await withRelay { new in
                let listener = try await old.listen()
                let (publisher, log) = try await publishMovably(old.url())
                let (oldPlayer, oldLog) = try await old.play()
                let (newPlayer, newLog) = try await new.play()
                // Key frames are 0, 10, 20; all others refer to them.
                let frames = (UInt8(0)..<30).map { index in
                    Sent(.video, UInt32(index) * 40, index % 10 == 0 ? Body.key(index) : Body.inter(index))
                }
                try await publisher.send(Array(frames[..<14]))
                let answer = try await old.ask(
                    "POST", "/v1/drain", body: #"{"to": "rtmp://127.0.0.1:\#(new.port)/live", "seconds": 600}"#)
                let document = try answer.document(RelayDrainDocument.self)
                #expect(document.state == .draining && document.connections == 2 && document.asked == 1)
                let event = try await log.log.next { if case .asked = $0 { true } else { false } }
                guard case .asked(let target?) = event else {
                    Issue.record("\(event)")
                    return
                }
                let url = try #require(old.url().redirected(to: target))
                #expect(url == new.url())
                // The rest of the group goes to the old relay, which still reads.
                try await publisher.send(Array(frames[14..<20]))
                let got = try await oldLog.messages(20)
                let (next, _) = try await publishMovably(url)
                try await next.send(Array(frames[20...]))
                await publisher.stop()
                let rest = try await newLog.messages(10)
                #expect((got + rest).map(\.payload) == frames.map(\.payload))
                // No new one is taken; it is answered "later".
                for name in ["cam", "other"] {
                    let refused = PublisherLog()
                    _ = RTMPPublisherConnection.connect(url: old.url(name), delegate: refused)
                    #expect(
                        try await refused.closed()
                            == RTMPTransportError(.session(.rejected(code: "NetStream.Publish.Failed"))))
                    let late = PlayerLog()
                    _ = RTMPPlayerConnection.connect(url: old.url(name), delegate: late)
                    #expect(try await late.closed().retry == .transient)
                }
                #expect(try await state(old) == .draining)
                // A player that cannot be asked stays until the time is over: now.
                #expect(try await old.ask("POST", "/v1/drain", body: #"{"seconds": 0}"#).status == 200)
                #expect(
                    try await oldLog.closed()
                        == RTMPTransportError(.session(.endedByPeer(code: "NetConnection.Connect.AppShutdown"))))
                try await listener.await("event: drained")
                #expect(try await state(old) == .drained)
                #expect(try await old.ask("GET", "/metrics").body.contains("watchbox_relay_draining 1\n"))
                await next.stop()
                await newPlayer.stop()
                await oldPlayer.stop()
                await listener.close()
            }
        }
    }

    @Test func `a forward to the relay that its publisher moved to does not come back`() async throws {
        try await withRelay { next in
            let api = try RelayAPIConfiguration(host: "127.0.0.1", port: 0, token: RelayAPIToken(APIClient.token))
            let target = try #require(ForwardTarget("rtmp://127.0.0.1:\(next.port)/live?key=secret"))
            try await withRelay {
                $0.api = api
                $0.forwards = [target]
            } _: { old in
                let (publisher, _) = try await publishMovably(old.url("cam?key=secret"))
                try await old.wait { $0.forwards.first?.state == .forwarding }
                let body = #"{"to": "rtmp://127.0.0.1:\#(next.port)/live"}"#
                #expect(try await old.ask("POST", "/v1/drain", body: body).status == 200)
                // It comes to the next relay before it leaves the old one.
                let (moved, log) = try await publishMovably(next.url("cam?key=secret"))
                try await old.wait { $0.forwards.isEmpty }
                #expect(await old.service.statistics().publishers == 1)
                await publisher.stop()
                #expect(log.log.all == [.started])
                await moved.stop()
            }
        }
    }

    @Test func `a relay that stops asks first, and ends without waiting for those who do not go`() async throws {
        let log = PublisherLog()
        let other = PublisherLog()
        try await withRelay { relay in
            var session = PublisherSession.Configuration()
            session.announcesReconnect = true
            _ = RTMPPublisherConnection.connect(url: relay.url("a"), session: session, delegate: log)
            _ = RTMPPublisherConnection.connect(url: relay.url("b"), delegate: other)
            for log in [log, other] { try await log.log.next { $0 == .started } }
        }
        let shutdown = RTMPTransportError(.session(.endedByPeer(code: "NetConnection.Connect.AppShutdown")))
        #expect(log.log.all == [.started, .asked(nil), .closed(shutdown)])
        #expect(other.log.all == [.started, .closed(shutdown)])
    }

    /// What systemd does (`FileDescriptorStoreMax=`): the socket outlives the process, and who comes back at once waits
    /// in its backlog for the next one.
    @Test func `who is asked to leave by a relay that stops finds the next process on the kept socket`() async throws {
        let kept = try ListeningSocket.open(host: "127.0.0.1", port: 0)
        defer { kept.close() }
        var logger = Logger(label: "relay") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        func start() async throws -> (service: RelayService, running: Task<Void, any Error>, port: Int) {
            let ports = EventLog<Int>()
            let service = RelayService(
                configuration: RelayConfiguration(port: 0),
                socket: ListeningSocket(descriptor: try kept.duplicate()), logger: logger,
                onRunning: { ports.add($0) })
            let running = Task { try await service.run() }
            return (service, running, try await ports.next { _ in true })
        }
        let first = try await start()
        let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: UInt16(first.port), app: "live", streamName: "cam")
        let (publisher, log) = try await publishMovably(url)
        // As SIGTERM does.
        first.running.cancel()
        let asked = try await log.log.next { if case .asked = $0 { true } else { false } }
        #expect(asked == .asked(nil))
        // Nothing accepts now: it is neither refused nor lost.
        let again = PublisherLog()
        let next = RTMPPublisherConnection.connect(url: url, delegate: again)
        try await first.running.value
        #expect(again.log.all.isEmpty)
        let second = try await start()
        #expect(second.port == first.port)
        try await again.log.next { $0 == .started }
        #expect(await second.service.statistics().publishers == 1)
        await next.stop()
        await publisher.stop()
        second.running.cancel()
        try await second.running.value
    }

    @Test(.enabled(if: ForeignProgram.path("ffmpeg") != nil))
    func `ffmpeg, which cannot be asked, is closed in the end`() async throws {
        let directory = try TemporaryDirectory()
        try await withAPI { relay in
            let ffmpeg = try #require(
                try ForeignProgram(
                    "ffmpeg",
                    [
                        "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "sine=440:r=48000", "-c:a", "aac",
                        "-f", "flv", relay.address(),
                    ], in: directory))
            try await relay.wait { ($0.streams.first?.audioFrames ?? 0) > 5 }
            let answer = try await relay.ask("POST", "/v1/drain", body: #"{"seconds": 1}"#)
            #expect(try answer.document(RelayDrainDocument.self).asked == 0)
            // Its status at the end says little: some versions end with 0 after an error of the server.
            _ = try await ffmpeg.end()
            #expect(ffmpeg.output.contains("out of service"), "\(ffmpeg.output)")
            try await relay.wait { $0.connections == 0 }
            #expect(try await state(relay) == .drained)
        }
    }
}
