import ControlAPI
import ErrorCatalog
import Testing

@testable import Hooks

/// Dialogues with a queue: what happened, what it wants to be done, and when.
struct HookQueueTests {
    private func event(_ id: Int64, _ text: String = "x") -> EventDocument {
        EventDocument(id: id, time: id * 1_000_000, topic: "camera", object: "front", text: text)
    }

    private func queue(_ ids: ClosedRange<Int64>, at now: Duration = .zero) -> HookQueue {
        var queue = HookQueue()
        for id in ids { queue.happened(event(id), at: now) }
        return queue
    }

    private func sent(_ action: HookQueue.Action) -> HookMessage? {
        if case .send(let message) = action { message } else { nil }
    }

    @Test func `events are sent one after the other, in their order`() {
        var queue = queue(1...3)
        for id in Int64(1)...3 {
            #expect(queue.next(at: .zero) == .send(HookMessage(event: event(id))))
            #expect(queue.next(at: .zero) == .rest, "one at a time")
            queue.ended(.delivered, at: .zero)
        }
        #expect(queue.next(at: .zero) == .rest)
        #expect(queue.counts.delivered == 3 && queue.counts.missed == 0)
    }

    @Test func `one that was seen is ignored, and one that is not stored is always new`() {
        var queue = queue(5...6)
        queue.happened(event(5), at: .zero)
        queue.happened(event(6), at: .zero)
        queue.happened(event(0), at: .zero)
        queue.happened(event(0), at: .zero)
        #expect(queue.length == 4)
        queue.passed(9)
        queue.happened(event(8), at: .zero)
        #expect(queue.length == 4 && queue.position == 9)
    }

    @Test func `a failure is tried again after pauses that double up to five minutes`() {
        var queue = queue(1...1)
        var now = Duration.zero
        for pause in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            #expect(sent(queue.next(at: now))?.event.id == 1)
            queue.ended(.failed, at: now)
            #expect(queue.isFailing)
            let due = now + .seconds(pause)
            #expect(queue.next(at: now) == .wait(until: due))
            // Nothing that happens meanwhile makes it shorter.
            queue.happened(event(100 + Int64(pause)), at: now)
            #expect(queue.next(at: due - .milliseconds(1)) == .wait(until: due))
            now = due
        }
        #expect(sent(queue.next(at: now))?.event.id == 1)
        queue.ended(.delivered, at: now)
        #expect(!queue.isFailing && queue.counts.failures == 10)
        // The next failure begins with the first pause.
        _ = queue.next(at: now)
        queue.ended(.failed, at: now)
        #expect(queue.next(at: now) == .wait(until: now + .seconds(2)))
    }

    @Test func `a test message that arrives ends the pause`() {
        var queue = queue(1...1)
        for _ in 0..<8 {
            _ = queue.next(at: .seconds(1000))
            queue.ended(.failed, at: .zero)
        }
        #expect(queue.next(at: .seconds(1)) == .wait(until: .seconds(256)))
        queue.reached()
        #expect(sent(queue.next(at: .seconds(1)))?.event.id == 1)
    }

    @Test func `what is refused is given up, and the next message says so`() {
        var queue = queue(1...3)
        _ = queue.next(at: .zero)
        queue.ended(.refused, at: .zero)
        #expect(queue.next(at: .zero) == .send(HookMessage(event: event(2), missed: 1)))
        queue.ended(.delivered, at: .zero)
        #expect(queue.next(at: .zero) == .send(HookMessage(event: event(3), missed: 0)))
        queue.ended(.delivered, at: .zero)
        #expect(queue.counts.refused == 1 && queue.counts.delivered == 2)
    }

    @Test func `the newest 64 are kept, and what they pushed out is reported`() {
        var queue = queue(1...1)
        _ = queue.next(at: .zero)
        for id in Int64(2)...80 { queue.happened(event(id), at: .zero) }
        #expect(queue.length == 65, "with the one that is being sent")
        queue.ended(.failed, at: .zero)
        #expect(queue.length == 64)
        #expect(queue.next(at: .seconds(2)) == .send(HookMessage(event: event(17), missed: 16)))
        // What is missed while a message is under way is for the next one to say.
        for id in Int64(81)...83 { queue.happened(event(id), at: .seconds(2)) }
        queue.ended(.delivered, at: .seconds(2))
        #expect(queue.next(at: .seconds(2)) == .send(HookMessage(event: event(20), missed: 2)))
        #expect(queue.counts.overflowed == 18)
    }

    @Test func `what is older than a day is not sent`() {
        var queue = HookQueue()
        queue.happened(event(1), age: .seconds(86_400), at: .seconds(100))
        queue.happened(event(2), age: .seconds(86_390), at: .seconds(100))
        queue.happened(event(3), at: .seconds(100))
        #expect(queue.next(at: .seconds(100)) == .send(HookMessage(event: event(2), missed: 1)))
        queue.ended(.failed, at: .seconds(100))
        #expect(queue.next(at: .seconds(110)) == .send(HookMessage(event: event(3), missed: 2)))
        queue.ended(.failed, at: .seconds(110))
        #expect(queue.next(at: .seconds(100 + 86_400)) == .rest)
        #expect(queue.counts.expired == 3)
    }

    @Test func `thirty requests a minute, and the last of them stands for all that waits`() {
        var queue = HookQueue()
        for id in Int64(1)...60 { queue.happened(event(id), at: .seconds(id)) }
        var messages: [HookMessage] = []
        while let message = sent(queue.next(at: .seconds(60))) {
            messages.append(message)
            queue.ended(.delivered, at: .seconds(60))
        }
        #expect(messages.map(\.event.id) == Array(1...29) + [60])
        #expect(messages.last?.missed == 30)
        #expect(queue.counts.joined == 30)
        queue.happened(event(61), at: .seconds(61))
        queue.happened(event(62), at: .seconds(62))
        #expect(queue.next(at: .seconds(62)) == .wait(until: .seconds(120)))
        #expect(sent(queue.next(at: .seconds(120)))?.event.id == 61)
    }

    @Test func `a message for many that fails gives none of them up`() {
        var queue = queue(1...64)
        for _ in 0..<29 {
            _ = queue.next(at: .zero)
            queue.ended(.delivered, at: .zero)
        }
        #expect(queue.next(at: .zero) == .send(HookMessage(event: event(64), missed: 34)))
        queue.ended(.failed, at: .zero)
        #expect(queue.length == 35)
        #expect(queue.place == HookPlace(settled: 29))
        #expect(sent(queue.next(at: .seconds(60)))?.event.id == 30)
    }

    @Test func `its place is before what is not settled, so that a restart loses and repeats nothing`() {
        var queue = queue(4...6)
        queue.passed(7)
        #expect(queue.place == HookPlace(settled: 3))
        _ = queue.next(at: .zero)
        #expect(queue.place == HookPlace(settled: 3), "what is being sent may not arrive")
        queue.ended(.delivered, at: .zero)
        #expect(queue.place == HookPlace(settled: 4))
        var restarted = HookQueue(place: queue.place)
        for id in Int64(1)...7 { restarted.happened(event(id), at: .zero) }
        #expect(sent(restarted.next(at: .zero))?.event.id == 5)
        for _ in 0..<2 {
            queue.ended(.delivered, at: .zero)
            _ = queue.next(at: .zero)
        }
        queue.ended(.delivered, at: .zero)
        #expect(queue.place == HookPlace(settled: 7))
    }

    @Test func `what was missed is sent after a restart as well`() {
        var queue = queue(1...2)
        _ = queue.next(at: .zero)
        queue.ended(.refused, at: .zero)
        var restarted = HookQueue(place: queue.place)
        restarted.happened(event(2), at: .zero)
        #expect(restarted.next(at: .zero) == .send(HookMessage(event: event(2), missed: 1)))
    }

    @Test func `a new hook begins with what happens next, and so does one whose history is gone`() {
        var queue = HookQueue()
        queue.began(at: 0)
        #expect(queue.position == nil)
        queue.began(at: 40)
        queue.happened(event(40), at: .zero)
        #expect(queue.length == 0 && queue.place == HookPlace(settled: 40))
        queue.began(at: 90)
        #expect(queue.position == 40, "what it has not seen yet is sent")
        queue.began(at: 12)
        queue.happened(event(13), at: .zero)
        #expect(queue.length == 1)
    }

    /// Whatever happens in whatever order: no event is sent twice, none is lost without being counted.
    @Test(arguments: 1...40) func `nothing is lost uncounted and nothing comes twice`(seed: Int) {
        var random = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        func roll(_ sides: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % sides
        }
        var queue = HookQueue()
        var now = Duration.zero
        var id: Int64 = 0
        var reported: Set<Int64> = []
        var isSending: HookMessage?
        for _ in 0..<4000 {
            now += .milliseconds(Int64(roll(4000)))
            switch roll(4) {
            case 0, 1:
                id += 1
                queue.happened(event(id), at: now)
            case 2:
                if isSending == nil { isSending = sent(queue.next(at: now)) }
            default:
                guard let message = isSending else { continue }
                isSending = nil
                let outcome: HookOutcome = [.delivered, .delivered, .refused, .failed][Int(roll(4))]
                if outcome == .delivered { #expect(reported.insert(message.event.id).inserted) }
                queue.ended(outcome, at: now)
            }
            #expect(queue.length <= HookQueue.limit + 1 || isSending != nil)
        }
        let counts = queue.counts
        #expect(counts.delivered == UInt64(reported.count))
        #expect(counts.delivered + counts.missed + UInt64(queue.length) == UInt64(id))
    }
}
