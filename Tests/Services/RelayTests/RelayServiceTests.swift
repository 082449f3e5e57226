import ChannelTestSupport
import Logging
import NIOCore
import RTMP
import RTMPTransport
import TestSupport
import Testing

@testable import Relay

@Suite(.serialized) struct RelayServiceTests {
    private static let start = [
        Sent(.dataAMF0, 0, Body.metadata()), Sent(.video, 0, Body.ntdfHeader()), Sent(.video, 0, Body.videoHeader),
        Sent(.audio, 0, Body.audioHeader), Sent(.video, 0, Body.key(1, size: 100_000)), Sent(.audio, 7, Body.audio(1)),
    ]

    @Test func `late and early players get the same stream, headers first`() async throws {
        try await withRelay { relay in
            let (early, earlyLog) = try await relay.play()
            let (publisher, _) = try await relay.publish()
            try await publisher.send(Self.start)
            let first = try await earlyLog.messages(6)
            #expect(first == [Sent(.dataAMF0, 0, Body.metadata(setDataFrame: false))] + Self.start.dropFirst())
            let (late, lateLog) = try await relay.play()
            let joined = try await lateLog.messages(6)
            #expect(joined.map(\.payload) == [0, 2, 3, 1, 4, 5].map { first[$0].payload })
            let live = [
                Sent(.dataAMF0, 40, Body.metadata("rotated")), Sent(.video, 40, Body.ntdfHeader(2)),
                Sent(.video, 40, Body.key(2)), Sent(.video, 16_777_215, Body.inter(3, size: 5000)),
            ]
            try await publisher.send(live)
            for log in [earlyLog, lateLog] {
                let got = try await log.messages(4)
                #expect(got == [Sent(.dataAMF0, 40, Body.metadata("rotated", setDataFrame: false))] + live.dropFirst())
            }
            let statistics = await relay.service.statistics()
            #expect(statistics.publishers == 1 && statistics.subscribers == 2 && statistics.connections == 3)
            #expect(statistics.streams.first?.hasNTDFHeader == true)
            #expect(statistics.framesDropped == 0 && statistics.bytesSent > 200_000)
            await early.stop()
            await late.stop()
            await publisher.stop()
            try await relay.wait { $0.connections == 0 && $0.streams.isEmpty }
        }
    }

    /// 256 of them locked every publisher out for as long as they stayed.
    @Test func `players of unpublished names lock no publisher out`() async throws {
        let keys = PublishAuthorization.keys(["live/door": "k"])
        try await withRelay({ $0.authorization = keys }) { relay in
            var players: [StuckPlayer] = []
            for index in 0..<256 { players.append(try await StuckPlayer.connect(to: relay, name: "nobody\(index)")) }
            try await relay.wait { $0.connections >= 8 && $0.subscribers == 8 }
            let (publisher, _) = try await relay.publish("door?key=k")
            #expect(await relay.service.statistics().publishers == 1)
            await publisher.stop()
            for player in players { await player.close() }
        }
    }

    @Test func `a relay that is full says "later": a publisher tries again soon`() async throws {
        try await withRelay({ $0.limits.streams = 1 }) { relay in
            let (publisher, _) = try await relay.publish("one")
            let log = PublisherLog()
            _ = RTMPPublisherConnection.connect(url: relay.url("two"), delegate: log)
            #expect(try await log.closed() == RTMPTransportError(.session(.rejected(code: "NetStream.Publish.Failed"))))
            #expect(RTMPTransportError(.session(.rejected(code: "NetStream.Publish.Failed"))).retry == .transient)
            await publisher.stop()
        }
    }

    @Test func `players fill the relay but for the places of publishers, and idle ones make room`() async throws {
        try await withRelay({ $0.connections = 4 }) { relay in
            // Two places are for publishers.
            let (first, _) = try await relay.play("nobody")
            let (_, second) = try await relay.play("nobody")
            let refused = PlayerLog()
            _ = RTMPPlayerConnection.connect(url: relay.url("nobody"), delegate: refused)
            let refusal = try await refused.closed()
            #expect(refusal.retry == .transient)
            let (one, _) = try await relay.publish("one")
            let (two, _) = try await relay.publish("two")
            // All places are taken: the youngest that waits goes.
            let (three, _) = try await relay.publish("three")
            #expect(try await second.closed().retry == .transient)
            for publisher in [one, two, three] { await publisher.stop() }
            await first.stop()
        }
    }

    @Test func `a player shows its key or its link`() async throws {
        let secret = try #require(PlayLinkSecret("0123456789abcdef"))
        let players = try PlayAuthorization(keys: "live/cam = right", linkSecret: secret)
        try await withRelay({ $0.players = players }) { relay in
            for name in ["cam", "cam?key=wrong", "cam?" + secret.query(path: "live/cam", expires: 1_000_000_000)] {
                let log = PlayerLog()
                _ = RTMPPlayerConnection.connect(url: relay.url(name), delegate: log)
                let error = try await log.closed()
                #expect(error.retry == .authentication)
            }
            for name in ["cam?key=right", "cam?" + secret.query(path: "live/cam", expires: 9_000_000_000)] {
                let (player, _) = try await relay.play(name)
                await player.stop()
            }
        }
    }

    @Test func `Enhanced RTMP HEVC passes, and its key frame begins the group`() async throws {
        try await withRelay { relay in
            let (publisher, _) = try await relay.publish()
            let fourCC: [UInt8] = Array("hvc1".utf8)
            let header: [UInt8] = [0x90] + fourCC + [1, 2, 3]
            let key: [UInt8] = [0x91] + fourCC + [0, 0, 0, 9]
            let inter: [UInt8] = [0xA3] + fourCC + [8]
            try await publisher.send([
                Sent(.video, 0, header), Sent(.video, 0, key), Sent(.video, 40, inter), Sent(.video, 80, key),
                Sent(.video, 120, inter),
            ])
            try await relay.wait { $0.streams.first?.videoFrames == 4 }
            let (player, log) = try await relay.play()
            #expect(try await log.messages(3).map(\.payload) == [header, key, inter])
            await player.stop()
            await publisher.stop()
        }
    }

    @Test func `a publisher that is cut off and comes back keeps its players, on one timeline`() async throws {
        try await withRelay { relay in
            let (player, log) = try await relay.play("cam")
            let (first, _) = try await relay.publish("cam?key=k")
            try await first.send([Sent(.video, 60_000, Body.key(1))])
            #expect(try await log.message().time == 60_000)
            // Not stopped: to the relay it is a connection that still stands.
            let (second, _) = try await relay.publish("cam?key=k")
            try await second.send([Sent(.video, 0, Body.key(2)), Sent(.video, 40, Body.inter(3))])
            let after = try await log.messages(2)
            #expect(after.map(\.payload) == [Body.key(2), Body.inter(3)])
            #expect(after[0].time > 60_000 && after[0].time < 75_000)
            #expect(after[1].time == after[0].time + 40)
            await first.stop()
            await second.stop()
            await player.stop()
        }
    }

    @Test func `the replaced publisher and one without claim learn why`() async throws {
        try await withRelay { relay in
            let (first, firstLog) = try await relay.publish("cam?key=k")
            try await first.send([Sent(.video, 0, Body.key())])
            let stranger = PublisherLog()
            _ = RTMPPublisherConnection.connect(url: relay.url("cam"), delegate: stranger)
            #expect(try await stranger.closed() == RTMPTransportError(.session(.badName)))
            let (second, _) = try await relay.publish("cam?key=k")
            #expect(try await firstLog.closed() == RTMPTransportError(.session(.badName)))
            await second.stop()
        }
    }

    @Test func `with keys configured, a wrong one is an authentication error`() async throws {
        try await withRelay {
            $0.authorization = .keys(["live/cam": "right"])
        } _: { relay in
            let wrong = PublisherLog()
            _ = RTMPPublisherConnection.connect(url: relay.url("cam?key=wrong"), delegate: wrong)
            let error = try await wrong.closed()
            #expect(error.retry == .authentication)
            #expect(!"\(error)".contains("wrong"))
            let (publisher, _) = try await relay.publish("cam?key=right")
            await publisher.stop()
        }
    }

    @Test func `after the grace period players are notified, and the next publisher reaches them`() async throws {
        try await withRelay {
            $0.limits.grace = 200_000_000
        } _: { relay in
            let (player, log) = try await relay.play()
            let (first, _) = try await relay.publish()
            try await first.send([Sent(.video, 0, Body.key(1))])
            _ = try await log.message()
            await first.stop()
            try await log.log.next { $0 == .ended }
            let (second, _) = try await relay.publish()
            try await second.send([Sent(.video, 0, Body.key(2))])
            #expect(try await log.message().payload == Body.key(2))
            await player.stop()
            await second.stop()
        }
    }

    @Test func `a player that takes nothing loses frames, is closed, and disturbs no one`() async throws {
        try await withRelay {
            $0.limits.subscriberBudget = 200_000_000
            $0.limits.subscriberTimeout = 1_000_000_000
        } _: { relay in
            let (publisher, _) = try await relay.publish()
            let (healthy, healthyLog) = try await relay.play()
            let stuck = try await StuckPlayer.connect(to: relay)
            try await relay.wait { $0.subscribers == 2 }
            let feed = publisher.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(10)) { _ in
                guard publisher.isWritable else { return }
                publisher.write(.video, timestamp: 0, payload: Body.key(1, size: 100_000)[...])
                publisher.flush()
            }
            try await relay.wait { $0.subscribersClosed == 1 && $0.subscribers == 1 }
            feed.cancel()
            let statistics = await relay.service.statistics()
            let dropped = try #require(statistics.streams.first?.dropped)
            #expect(dropped.frames > 0 && dropped.gaps > 0 && dropped.bytes == dropped.frames * 100_005)
            let sent = try #require(statistics.streams.first?.videoFrames)
            let got = try await healthyLog.messages(sent)
            #expect(got.count == sent, "the healthy one lost nothing")
            await stuck.close()
            await healthy.stop()
            await publisher.stop()
        }
    }

    @Test func `a relay that stops notifies both sides and ends at once`() async throws {
        let watching = PlayerLog()
        let publishing = PublisherLog()
        let time = try await elapsed {
            try await withRelay { relay in
                _ = RTMPPlayerConnection.connect(url: relay.url(), delegate: watching)
                _ = RTMPPublisherConnection.connect(url: relay.url(), delegate: publishing)
                try await watching.log.next { $0 == .started }
                try await publishing.log.next { $0 == .started }
            }
        }
        // It does not wait until its clients go: they have no reason to but what it sends them, which is checked below.
        print("a relay with two clients: began, served and stopped in \(time)")
        #expect(time < .seconds(60))
        let expected = RTMPTransportError(.session(.endedByPeer(code: "NetConnection.Connect.AppShutdown")))
        #expect(try await watching.closed() == expected)
        #expect(try await publishing.closed() == expected)
    }

    @Test func `a port that is taken is an error that says so`() async throws {
        try await withRelay { relay in
            let second = RelayService(configuration: RelayConfiguration(port: relay.port), logger: .init(label: "x"))
            await #expect(throws: RTMPTransportError(.bindFailed("Address already in use"))) {
                try await second.run()
            }
        }
    }

    @Test func `hundreds of publishers and players come and go, and nothing of them stays`() async throws {
        try await withRelay { relay in
            for round in 0..<20 {
                var publishers: [RTMPPublisherConnection] = []
                var players: [RTMPPlayerConnection] = []
                for index in 0..<5 {
                    let (publisher, _) = try await relay.publish("cam\(index)")
                    try await publisher.send([Sent(.video, 0, Body.key(UInt8(round)))])
                    publishers.append(publisher)
                    let (player, log) = try await relay.play("cam\(index)")
                    #expect(try await log.message().payload == Body.key(UInt8(round)))
                    players.append(player)
                }
                for player in players { await player.stop() }
                for publisher in publishers { await publisher.stop() }
                try await relay.wait { $0.connections == 0 && $0.streams.isEmpty }
            }
        }
    }
}
