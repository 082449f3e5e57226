import ChannelTestSupport
import NIOCore
import RTMP
import RTMPTransport
import Testing

@testable import Relay

/// Which stream may go on, and for how long.
struct ForwardPlanTests {
    private func place(_ app: String, _ name: String, _ number: Int = 1) throws -> ForwardPlan.Place {
        ForwardPlan.Place(path: try StreamPath(app: app, name: name), number: number)
    }

    // MARK: The decision

    @Test func `a name at the next relay belongs to the first`() throws {
        var plan = ForwardPlan(most: 4)
        let (live, guest) = (try place("live", "cam1"), try place("guest", "cam1"))
        #expect(plan.ask(live, name: "b/cam1", isReserved: false) == .begin(insteadOf: nil))
        #expect(plan.ask(guest, name: "b/cam1", isReserved: false) == .refused(.nameTaken))
        #expect(plan.holds(live) && !plan.holds(guest) && !plan.hasRoomAgain)
        #expect(plan.ask(try place("guest", "cam1", 2), name: "c/cam1", isReserved: false) == .begin(insteadOf: nil))
        plan.leave(live)
        #expect(plan.hasRoomAgain)
        #expect(plan.ask(guest, name: "b/cam1", isReserved: false) == .begin(insteadOf: nil))
    }

    @Test func `a stream with a key of its own goes before one without`() throws {
        var plan = ForwardPlan(most: 4)
        let (live, guest, other) = (try place("live", "cam1"), try place("guest", "cam1"), try place("x", "cam1"))
        _ = plan.ask(guest, name: "b/cam1", isReserved: false)
        #expect(plan.ask(live, name: "b/cam1", isReserved: true) == .begin(insteadOf: guest))
        #expect(plan.ask(guest, name: "b/cam1", isReserved: false) == .refused(.nameTaken))
        #expect(plan.ask(other, name: "b/cam1", isReserved: true) == .refused(.nameTaken))
    }

    @Test func `when all places are taken, the last without a key goes for one with`() throws {
        var plan = ForwardPlan(most: 2)
        let places = try (0..<5).map { try place("live", "cam\($0)") }
        for index in 0..<2 {
            #expect(plan.ask(places[index], name: "\(index)", isReserved: false) == .begin(insteadOf: nil))
        }
        #expect(plan.ask(places[2], name: "2", isReserved: false) == .refused(.tooMany))
        #expect(plan.ask(places[2], name: "2", isReserved: true) == .begin(insteadOf: places[1]))
        #expect(plan.ask(places[3], name: "3", isReserved: true) == .begin(insteadOf: places[0]))
        #expect(plan.ask(places[4], name: "4", isReserved: true) == .refused(.tooMany))
    }

    @Test func `two lines of one destination are one`() throws {
        let path = try StreamPath(app: "a", name: "cam")
        let names = [
            "rtmp://B.example/live?key=1", "rtmp://user:pw@b.example:1935/live", "rtmp://b.example/other",
        ].map { ForwardTarget($0)!.name(of: path) }
        #expect(names[0] == names[1] && names[1] != names[2])
        #expect(!names.contains { $0.contains("pw") || $0.contains("key") })
    }

    @Test func `who is sent elsewhere takes a free name, keeps its own, and goes for the owner`() throws {
        var plan = ForwardPlan(most: 4)
        let (live, guest, other) = (try place("live", "cam1"), try place("guest", "cam1"), try place("x", "cam1"))
        _ = plan.ask(live, name: "b/cam1", isReserved: true)
        _ = plan.ask(guest, name: "c/cam1", isReserved: false)
        func moves(_ place: ForwardPlan.Place, to name: String?) -> Bool { plan.move(place, to: name) }
        #expect(!moves(live, to: "c/cam1"), "not even with a key of its own")
        #expect(moves(live, to: "d/cam1") && moves(live, to: "d/cam1") && !plan.hasRoomAgain)
        #expect(!moves(guest, to: "d/cam1") && !moves(guest, to: "b/cam1"))
        #expect(plan.ask(other, name: "d/cam1", isReserved: false) == .begin(insteadOf: live))
        #expect(!plan.holds(live) && plan.hasRoomAgain)
        #expect(plan.ask(live, name: "b/cam1", isReserved: true) == .begin(insteadOf: nil))
        #expect(moves(live, to: "e/cam1") && moves(live, to: nil) && moves(guest, to: "e/cam1"))
        plan.leave(guest)
        #expect(moves(live, to: "e/cam1") && moves(live, to: "b/cam1") && plan.holder(of: "e/cam1") == nil)
    }

    @Test func `one place is spelled in one way`() throws {
        let path = try StreamPath(app: "a", name: "cam")
        let name = ForwardTarget("rtmp://b.example/live")!.name(of: path)
        for text in ["rtmp://B.example./live", "rtmp://b.example:1935//live/", "rtmp://b.example/live/?x=1"] {
            let url = try RTMPURL(server: text, streamName: "cam?key=1")
            #expect(ForwardTarget.name(of: path, at: url) == name, "\(text)")
        }
    }

    // MARK: Running relays

    private func target(_ relay: RunningRelay) -> ForwardTarget {
        ForwardTarget("rtmp://127.0.0.1:\(relay.port)/live?key=secret")!
    }

    private func publish(_ relay: RunningRelay, _ app: String, _ name: String) async throws -> RTMPPublisherConnection {
        let log = PublisherLog()
        let url = RTMPURL(scheme: .rtmp, host: "127.0.0.1", port: UInt16(relay.port), app: app, streamName: name)
        let publisher = RTMPPublisherConnection.connect(url: url, delegate: log)
        try await log.log.next { $0 == .started }
        return publisher
    }

    @Test func `a forward ends with its publisher, though players still wait`() async throws {
        try await withRelay { next in
            try await withRelay {
                $0.forwards = [target(next)]
                $0.limits.grace = 600_000_000_000
            } _: { relay in
                let (player, _) = try await relay.play()
                let (watcher, watched) = try await next.play()
                let (publisher, _) = try await relay.publish("cam?key=secret")
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                // Audio waits for a frame, but not beyond the end.
                try await publisher.send([Sent(.video, 0, Body.key(1, size: 100_000)), Sent(.audio, 3, Body.audio(1))])
                _ = try await watched.messages(1)
                await publisher.stop()
                _ = try await watched.messages(1)
                try await relay.wait { $0.publishers == 0 }
                #expect(await relay.service.statistics().forwards.isEmpty)
                try await next.wait { $0.publishers == 0 }
                // The next publisher has a forward of its own.
                let (again, _) = try await relay.publish("cam?key=secret")
                try await next.wait { $0.publishers == 1 }
                await again.stop()
                await watcher.stop()
                await player.stop()
            }
        }
    }

    @Test func `who took the name at the next relay keeps it while nothing comes from here`() async throws {
        try await withRelay { next in
            try await withRelay {
                $0.forwards = [target(next)]
                $0.limits.publisherSilence = 100_000_000
            } _: { relay in
                let (silent, _) = try await relay.publish("cam?key=secret")
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                let (moved, log) = try await next.publish("cam?key=secret")
                try await relay.wait { $0.forwards.first?.state == .waiting }
                // It would have come back within 0.5 s.
                try await Timers.loop.scheduleTask(in: .milliseconds(1500)) {}.futureResult.get()
                #expect(log.log.all == [.started])
                #expect(await relay.service.statistics().forwards.first?.connections == 1)
                await moved.stop()
                await silent.stop()
            }
        }
    }

    @Test func `a stream of another application does not take a name over`() async throws {
        try await withRelay { next in
            try await withRelay({ $0.forwards = [target(next)] }) { relay in
                let live = try await publish(relay, "live", "cam1")
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                let guest = try await publish(relay, "guest", "cam1")
                let statistics = await relay.service.statistics()
                #expect(statistics.forwards.map(\.app) == ["guest", "live"])
                #expect(statistics.forwards.map(\.state) == [.refused, .forwarding])
                #expect(statistics.forwards[0].reason?.isEmpty == false && statistics.forwardsRefused == 1)
                let text = RelayMetrics.text(statistics, streams: 10)
                #expect(
                    text.contains("watchbox_relay_forwards_refused 1\n") && !text.contains("forward_up{app=\"guest\""))
                await live.stop()
                try await relay.wait { $0.forwards.map(\.app) == ["guest"] && $0.forwards[0].state == .forwarding }
                await guest.stop()
                try await relay.wait { $0.forwards.isEmpty && $0.forwardsRefused == 0 }
            }
        }
    }

    @Test func `a stream with a key of its own gets its name back, and one that no URL can name holds no place`()
        async throws
    {
        try await withRelay { next in
            try await withRelay {
                $0.forwards = [target(next)]
                $0.authorization = .keys(["live/cam1": "one", "*": "all"])
            } _: { relay in
                let guest = try await publish(relay, "guest", "cam1?key=all")
                try await relay.wait { $0.forwards.first?.state == .forwarding }
                let live = try await publish(relay, "live", "cam1?key=one")
                try await relay.wait { $0.forwards.map(\.state) == [.refused, .forwarding] }
                #expect(await relay.service.statistics().forwards.map(\.app) == ["guest", "live"])
                await guest.stop()
                await live.stop()
                try await relay.wait { $0.forwards.isEmpty }
                let odd = try await publish(relay, "live", "b c?key=all")
                let forward = try #require(await relay.service.statistics().forwards.first)
                #expect(forward.state == .refused && forward.reason == ForwardPlan.Refusal.noURL.message)
                await odd.stop()
                try await relay.wait { $0.forwards.isEmpty }
            }
        }
    }
}
