import Testing

@testable import UplinkRate

/// What is said to ``UplinkRate``, and what it answers.
struct UplinkDialogueTests {
    /// A link of 2 Mbit/s that a camera has used for four seconds.
    private func began() -> LinkDialogue {
        var dialogue = LinkDialogue()
        dialogue.passed(200_000, waiting: 80_000, times: 40)
        return dialogue
    }

    /// The same, when the link has become four times slower, and it was noticed.
    private func congested() throws -> (LinkDialogue, UplinkRate.Decision) {
        var dialogue = began()
        for tenth in 1...10 {
            let decision = dialogue.passed(50_000, waiting: 80_000 + tenth * 150_000)
            if decision.encoder != nil { return (dialogue, decision) }
        }
        throw Unnoticed()
    }

    private struct Unnoticed: Error {}

    @Test func `a link that bears the most is left alone`() {
        var dialogue = began()
        #expect(dialogue.passed(200_000, waiting: 80_000, times: 100) == [])
        #expect(dialogue.rate.target == 2_000_000 && dialogue.rate.reason == .start)
        #expect(dialogue.rate.pace.changedAt == nil)
        #expect(dialogue.rate.measured.rounded() == 2_000_000)
    }

    @Test func `what takes too long is a cut to below what the link delivers, at once and once`() throws {
        var (dialogue, decision) = try congested()
        #expect(decision.target < 0.85 * dialogue.rate.measured && decision.encoder == Int(decision.target))
        #expect(dialogue.rate.reason == .congestion && dialogue.rate.delay > 0.2)
        #expect(dialogue.rate.pace.changedAt == dialogue.instant)
        // The next reading shows what was there before the cut.
        let next = dialogue.passed(50_000, waiting: 400_000)
        #expect(next.encoder == nil && next.target == decision.target)
    }

    @Test func `what is drained returns to just below what the link delivered, and then feels its way`() throws {
        var (dialogue, _) = try congested()
        dialogue.passed(50_000, waiting: 200_000, times: 5)
        var targets: [Double] = []
        for _ in 0..<100 {
            let before = dialogue.rate.target
            let now = dialogue.passed(Int(before / 10), waiting: 20_000)
            #expect(now.target >= before && now.target <= before * 1.16)
            targets.append(now.target)
            if now.encoder != nil { #expect([.recovery, .probe].contains(dialogue.rate.reason)) }
        }
        #expect(targets[99] == 2_000_000 && dialogue.rate.pace.bitrate == 2_000_000)
        #expect(dialogue.rate.reason == .probe && targets[0] < 450_000)
        // Quickly to what was there before, and slowly on.
        let quick = targets.prefix { $0 < 450_000 }.count
        let slow = targets.prefix { $0 < 550_000 }.count
        #expect(quick < 15 && slow - quick > 8)
    }

    @Test func `silence says nothing of the rate, and what comes after it begins below`() {
        var dialogue = began()
        for tenth in 1...30 {
            let decision = dialogue.passed(0, waiting: 80_000 + tenth * 200_000)
            #expect(decision.encoder == nil && decision.target == 2_000_000)
        }
        let after = dialogue.passed(30_000, waiting: 100_000)
        #expect(after.encoder == 1_000_000 && dialogue.rate.reason == .silence)
        // And goes back to what it was, since it may be that again.
        #expect(dialogue.passed(200_000, waiting: 20_000, times: 50).last == 2_000_000)
    }

    @Test func `after silence in the middle of congestion the rate is no higher`() throws {
        var (dialogue, decision) = try congested()
        _ = dialogue.passed(50_000, waiting: 500_000)
        dialogue.passed(0, waiting: 900_000, times: 10)
        #expect(dialogue.passed(30_000, waiting: 900_000).target <= decision.target)
    }

    @Test func `a cut after which nothing came was the silence's own, and is taken back`() throws {
        var (dialogue, decision) = try congested()
        dialogue.passed(0, waiting: 900_000, times: 10)
        let after = dialogue.passed(30_000, waiting: 20_000)
        #expect(decision.target < 1_000_000 && after.target == 1_000_000 && dialogue.rate.reason == .silence)
    }

    @Test func `silences in a row do not make it less and less`() {
        var dialogue = began()
        for _ in 0..<20 {
            dialogue.passed(0, waiting: 280_000, times: 7)
            dialogue.passed(200_000, waiting: 20_000, times: 8)
            #expect(dialogue.rate.target >= 1_000_000)
        }
        #expect(dialogue.passed(200_000, waiting: 20_000, times: 100).last == 2_000_000)
    }

    @Test func `what is too old goes, and what comes next has time`() {
        var dialogue = LinkDialogue()
        /// Tenths of a second, from now on, in which the queue was to be dropped.
        func drops(_ dialogue: inout LinkDialogue) -> [Int] {
            (1...60).filter { tenth in
                dialogue.passed(20_000, waiting: 500_000, queued: UInt64(tenth) * 100_000_000).dropsQueue
            }
        }
        // The connection's first second is over before a second of video can wait.
        #expect([11, 12].contains(drops(&dialogue).first))
        dialogue.passed(200_000, waiting: 20_000, times: 40)
        let later = drops(&dialogue)
        #expect(later.first == 10 && later.count == 3, "\(later)")
        #expect(zip(later, later.dropFirst()).allSatisfy { $1 - $0 >= 20 }, "\(later)")
        // Of a queue that was kept for this connection.
        dialogue.reconnected()
        #expect(!dialogue.passed(0, waiting: 500_000, queued: 2_000_000_000).dropsQueue)
        #expect(!dialogue.passed(20_000, waiting: 500_000, queued: 2_000_000_000).dropsQueue)
    }

    @Test func `what the encoder does not have yet is not gone far beyond`() throws {
        var (dialogue, _) = try congested()
        dialogue.passed(50_000, waiting: 200_000, times: 5)
        dialogue.rate.use(.reopened)
        for _ in 0..<600 {
            let before = dialogue.rate.target
            let decision = dialogue.passed(Int(before / 10), waiting: 20_000)
            #expect(decision.target <= max(before, 1.3 * Double(dialogue.rate.pace.bitrate), 900_000))
        }
        #expect(dialogue.rate.target > 1_000_000)
    }

    @Test func `a moment without an answer is none`() {
        var dialogue = began()
        #expect(dialogue.passed(0, waiting: 280_000).encoder == nil)
        #expect(dialogue.passed(0, waiting: 480_000).encoder == nil)
        #expect(dialogue.passed(480_000, waiting: 200_000).encoder == nil)
        #expect(dialogue.rate.target == 2_000_000)
    }

    @Test func `a key frame behind small frames is not congestion`() {
        var dialogue = LinkDialogue()
        for _ in 0..<10 {
            dialogue.passed(5_000, waiting: 5_000, times: 20)
            #expect(dialogue.passed(5_000, waiting: 320_000).encoder == nil)
            #expect(dialogue.passed(160_000, waiting: 165_000).encoder == nil)
        }
        #expect(dialogue.rate.target == 2_000_000)
    }

    @Test func `a new connection begins slowly, and what is known of the link stays`() throws {
        var (dialogue, decision) = try congested()
        dialogue.passed(50_000, waiting: 20_000, times: 50)
        let target = dialogue.rate.target
        #expect(target > decision.target)
        dialogue.reconnected()
        // TCP's beginning: less than what it could be, and more than that waits.
        #expect(dialogue.passed(10_000, waiting: 100_000, times: 9) == [])
        #expect(dialogue.rate.target == target)
    }
}
