import RTMP
import TestSupport
import Testing

@testable import Relay

@Suite struct SlowSubscriberTests {
    /// A publisher, and subscriber 7 that has taken the first key frame.
    private func streaming(_ change: (inout RelayLimits) -> Void = { _ in }) -> TestHub {
        var hub = TestHub.make(change)
        _ = hub.publish(1)
        _ = hub.play(7)
        hub.video(Body.key(0))
        _ = hub.takeReady()
        _ = hub.drain(7)
        return hub
    }

    @Test func `over budget frames are dropped up to the newest key frame that waits`() {
        var hub = streaming()
        hub.video(Body.inter(1), 1000, at: .seconds(1))
        hub.audio(Body.audio(1), 1000, at: .seconds(1))
        hub.video(Body.key(2), 2000, at: .seconds(2))
        hub.video(Body.inter(3), 3001, at: .milliseconds(3001))
        #expect(hub.drain(7).map(\.payload) == [Body.audio(1), Body.key(2), Body.inter(3)])
        let dropped = hub.dropped(7)
        #expect(dropped.frames == 1 && dropped.bytes == 6 && dropped.gaps == 1)
    }

    @Test func `without a waiting key frame all frames go, and resume at the next key frame`() {
        var hub = streaming()
        hub.video(Body.inter(1), 1000, at: .seconds(1))
        hub.video(Body.inter(2), 1040, at: .seconds(1))
        hub.audio(Body.audio(1), 1100, at: .seconds(2))
        hub.video(Body.inter(3), 3100, at: .milliseconds(3100))
        hub.video(Body.ntdfHeader(2), 3140, at: .milliseconds(3140))
        hub.video(Body.inter(4), 3140, at: .milliseconds(3140))
        hub.video(Body.key(5), 3180, at: .milliseconds(3180))
        hub.video(Body.inter(6), 3220, at: .milliseconds(3220))
        #expect(hub.drain(7).map(\.payload) == [Body.audio(1), Body.ntdfHeader(2), Body.key(5), Body.inter(6)])
        #expect(hub.dropped(7).frames == 4)
        #expect(hub.dropped(7).gaps == 1)
    }

    @Test func `one that was slow is taken on to each new key frame, for a while`() {
        var hub = streaming()
        hub.video(Body.inter(1), at: .seconds(1))
        hub.video(Body.inter(2), at: .milliseconds(3001))
        #expect(hub.dropped(7).gaps == 1)
        hub.video(Body.key(3), at: .milliseconds(3100))
        hub.video(Body.inter(4), at: .milliseconds(3140))
        hub.video(Body.key(5), at: .milliseconds(3601))
        #expect(hub.drain(7).map(\.payload) == [Body.key(5)])
        #expect(hub.dropped(7).frames == 4 && hub.dropped(7).gaps == 2)
        // Ten seconds later a stall of the same length costs nothing.
        hub.video(Body.inter(6), at: .milliseconds(13_700))
        hub.video(Body.key(7), at: .milliseconds(15_000))
        #expect(hub.drain(7).map(\.payload) == [Body.inter(6), Body.key(7)])
    }

    @Test func `frames do not resume while even audio is behind`() {
        var hub = streaming()
        hub.audio(Body.audio(1), 1000, at: .seconds(1))
        hub.video(Body.inter(1), 1000, at: .seconds(1))
        hub.video(Body.inter(2), 3500, at: .milliseconds(3500))
        hub.video(Body.key(3), 3600, at: .milliseconds(3600))
        #expect(hub.drain(7).map(\.payload) == [Body.audio(1)])
        #expect(hub.dropped(7).frames == 3)
        hub.video(Body.key(4), 4600, at: .milliseconds(4600))
        #expect(hub.drain(7).map(\.payload) == [Body.key(4)])
    }

    @Test func `the budget counts bytes as well`() {
        var hub = streaming { $0.subscriberBytes = 1000 + 3 * 256 }
        for tag in 1...4 { hub.video(Body.inter(UInt8(tag), size: 395)) }
        hub.video(Body.key(9))
        #expect(hub.drain(7).map(\.payload) == [Body.key(9)])
        #expect(hub.dropped(7).frames == 4)
        #expect(hub.dropped(7).bytes == 1600)
    }

    @Test func `the shortest frames count with what they cost in memory`() {
        var hub = streaming { $0.subscriberBytes = 10 * (6 + 256) }
        for _ in 1...11 { hub.video(Body.inter()) }
        #expect(hub.dropped(7).frames == 0)
        hub.video(Body.inter())
        #expect(hub.dropped(7).frames == 12)
        #expect(hub.dropped(7).bytes == 12 * 6)
    }

    @Test func `the budget counts messages as well`() {
        var hub = streaming { $0.subscriberMessages = 10 }
        for _ in 1...11 { hub.video(Body.inter()) }
        #expect(hub.dropped(7).frames == 0)
        hub.video(Body.key(9))
        #expect(hub.dropped(7).frames == 11)
        #expect(hub.drain(7).map(\.payload) == [Body.key(9)])
    }

    @Test(arguments: [true, false])
    func `audio and headers that fill the queue twice over end the subscriber, and no more of them is kept`(
        byCount: Bool
    ) {
        var hub = streaming {
            if byCount { $0.subscriberMessages = 10 } else { $0.subscriberBytes = 10 * (3 + 256) }
        }
        for _ in 1...20 { hub.audio(Body.audio()) }
        #expect(hub.timePassed(at: 0).isEmpty)
        for _ in 1...1000 {
            hub.audio(Body.audio())
            hub.video(Body.videoHeader)
        }
        #expect(hub.statistics(at: 0).streams[0].queuedMessages == 21)
        // What it would get now has a hole, however much it takes before the next look.
        _ = hub.drain(7)
        #expect(hub.timePassed(at: 0) == [.close(7, .tooSlow)])
    }

    @Test func `headers and audio are never dropped`() {
        var hub = streaming()
        hub.data(Body.metadata(), at: .seconds(1))
        hub.video(Body.ntdfHeader(1), at: .seconds(1))
        hub.audio(Body.audio(1), at: .seconds(1))
        hub.video(Body.videoHeader, at: .seconds(1))
        hub.video(Body.inter(1), at: .seconds(1))
        hub.video(Body.inter(2), at: .seconds(4))
        #expect(
            hub.drain(7).map(\.payload) == [
                Body.metadata(setDataFrame: false), Body.ntdfHeader(1), Body.audio(1), Body.videoHeader,
            ])
    }

    @Test func `a subscriber that takes nothing for 10 s is closed, dropped frames or not`() {
        var hub = streaming()
        for second in UInt64(1)...11 {
            hub.video(Body.key(1), UInt32(second * 1000), at: .seconds(second))
            #expect(hub.timePassed(at: .seconds(second)).isEmpty)
        }
        #expect(hub.timePassed(at: .seconds(11) + 1) == [.close(7, .tooSlow)])
    }

    @Test func `one that trickles is closed when what it gets is 10 s old`() {
        var hub = streaming()
        var closedAt: UInt64?
        // Ten audio frames a second, of which it takes one.
        for tenth in UInt64(1)...200 where closedAt == nil {
            let now = UInt64.milliseconds(tenth * 100)
            hub.audio(Body.audio(), UInt32(tenth * 100), at: now)
            hub.handOut(at: now + .milliseconds(20))
            if tenth % 10 == 0 { #expect(hub.dequeue(for: 7, at: now) != nil) }
            if hub.timePassed(at: now) == [.close(7, .tooSlow)] { closedAt = now }
        }
        // After n seconds it has taken what came in the first n/10.
        #expect(closedAt == .milliseconds(11_300))
    }

    @Test func `of one that is slow, what would arrive too late is not sent, what its connection holds included`()
        throws
    {
        var hub = streaming()
        hub.video(Body.inter(1), at: .seconds(1))
        hub.video(Body.inter(2), at: .milliseconds(2501))
        #expect(hub.dropped(7).frames == 2, "it is slow from here on")
        let transit = { (held: Int, now: UInt64) in
            hub.subscribers[7]?.transit.observe(written: 1_000_000, held: held, at: now)
        }
        // 10 000 bytes a second, of which 20 000 are still on their way: 2 s.
        transit(25_000, .milliseconds(2600))
        transit(20_000, .milliseconds(3100))
        hub.video(Body.key(3), at: .milliseconds(3100))
        hub.audio(Body.audio(3), at: .milliseconds(3100))
        #expect(hub.drain(7, at: .milliseconds(3100)).map(\.payload) == [Body.audio(3)])
        #expect(hub.dropped(7).frames == 3 && hub.dropped(7).gaps == 2)
        // 1.5 s: a key frame that is new arrives in time, one that waited does not.
        transit(15_000, .milliseconds(3600))
        hub.video(Body.inter(4), at: .milliseconds(3600))
        hub.video(Body.key(5), at: .milliseconds(3600))
        #expect(hub.drain(7, at: .milliseconds(3600)).map(\.payload) == [Body.key(5)])
        hub.video(Body.inter(6), at: .milliseconds(3640))
        transit(15_000, .milliseconds(4100))
        #expect(hub.drain(7, at: .milliseconds(4100)).isEmpty)
        #expect(hub.dropped(7).frames == 5)
        // With nothing on its way there is nothing to wait for.
        transit(0, .milliseconds(6000))
        hub.video(Body.key(7), at: .milliseconds(6000))
        #expect(hub.drain(7, at: .milliseconds(6000)).map(\.payload) == [Body.key(7)])
    }

    @Test func `the budget of one that was never slow ends at 1.5 s, and until then nothing is lost`() {
        var hub = streaming()
        hub.video(Body.inter(1), at: .seconds(1))
        hub.video(Body.inter(2), at: .milliseconds(2500))
        #expect(hub.dropped(7).frames == 0)
        hub.video(Body.inter(3), at: .milliseconds(2500) + 1)
        #expect(hub.dropped(7).frames == 3)
    }

    @Test func `a slow subscriber costs the others nothing`() {
        var hub = streaming()
        _ = hub.play(8)
        _ = hub.drain(8)
        for second in UInt64(1)...5 {
            hub.video(Body.inter(UInt8(second)), UInt32(second * 1000), at: .seconds(second))
            #expect(hub.drain(8).map(\.payload) == [Body.inter(UInt8(second))])
        }
        #expect(hub.dropped(8).frames == 0)
        #expect(hub.dropped(7).frames == 5)
        let statistics = hub.statistics(at: .seconds(5))
        #expect(statistics.framesDropped == 5)
        hub.finished(7, at: .seconds(5))
        #expect(hub.statistics(at: .seconds(5)).framesDropped == 5, "what the departed lost stays counted")
    }

    @Test(arguments: 1...32 as ClosedRange<UInt64>)
    func `whatever the pace, no frame comes without its key frame and every loss is counted`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var hub = TestHub.make { $0.subscriberBytes = 10_000 }
        _ = hub.publish(1)
        _ = hub.play(7)
        var now: UInt64 = 0
        var sent = 0
        var tag: UInt8 = 0
        var taken: [Sent] = []
        for index in 0..<2000 {
            now += .milliseconds(.random(in: 0..<80, using: &random))
            let isKey = index == 0 || Int.random(in: 0..<20, using: &random) == 0
            // The tag counts frames within a group, so that a hole shows.
            let body = isKey ? Body.key(0) : Body.inter(tag, size: Int.random(in: 1...300, using: &random))
            tag = isKey ? 1 : tag &+ 1
            hub.video(body, UInt32(now / 1_000_000), at: now)
            sent += 1
            if Int.random(in: 0..<3, using: &random) == 0 { hub.audio(Body.audio(), UInt32(now / 1_000_000), at: now) }
            let room = Int.random(in: 0..<(index / 200 % 2 == 0 ? 6 : 2), using: &random)
            for _ in 0..<room { if let next = hub.dequeue(for: 7, at: now) { taken.append(next) } }
        }
        taken += hub.drain(7)
        let frames = taken.filter { $0.type == .video }
        var expected: UInt8?
        for frame in frames {
            let isKey = frame.payload[0] == 0x17
            if !isKey { #expect(frame.payload[5] == expected) }
            expected = (isKey ? 0 : frame.payload[5]) &+ 1
        }
        #expect(frames.count + hub.dropped(7).frames == sent)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time <= $1.time })
    }
}
