import Testing

@testable import RTMP

/// The rules by which a relay is called dead, as decisions about instants.
struct RelayLivenessTests {
    private var rules: LivenessRules {
        var rules = LivenessRules()
        rules.pingInterval = 2 * second  // round numbers
        return rules
    }

    private func answering(at now: UInt64 = 0) -> RelayLiveness {
        var liveness = RelayLiveness(rules: rules)
        let ping = liveness.duePing(at: now)
        #expect(liveness.pingAnswered(ping!, at: now) == 0)
        return liveness
    }

    @Test func `a ping is due every 2 s while media flows and every 10 s while not`() {
        var liveness = answering()
        liveness.mediaWritten()
        #expect(liveness.duePing(at: 2 * second - 1) == nil)
        #expect(liveness.duePing(at: 2 * second) == 2)
        #expect(liveness.duePing(at: 4 * second) == nil)
        #expect(liveness.duePing(at: 12 * second) == 3)
    }

    @Test func `unanswered for 3 s and nothing acknowledged for 2 s is dead`() {
        var liveness = answering()
        liveness.mediaWritten()
        _ = liveness.duePing(at: 2 * second)
        liveness.bytesAcknowledged(someOutstanding: false, at: 2 * second)
        #expect(liveness.verdict(at: 5 * second - 1) == nil)
        #expect(liveness.verdict(at: 5 * second) == .pingUnanswered(nanoseconds: 3 * second))
    }

    @Test func `a congested link that acknowledges gets 8 s`() {
        var liveness = answering()
        liveness.mediaWritten()
        _ = liveness.duePing(at: 2 * second)
        for tick in 8..<40 {
            let now = UInt64(tick) * second / 4
            liveness.bytesAcknowledged(someOutstanding: true, at: now)
            #expect(liveness.verdict(at: now) == nil)
        }
        #expect(liveness.verdict(at: 10 * second) == .pingUnanswered(nanoseconds: 8 * second))
    }

    @Test func `a ping that the relay's kernel has, and the relay does not answer, is dead after 2_5 s`() {
        var liveness = answering()
        liveness.mediaWritten()
        _ = liveness.duePing(at: 2 * second)
        liveness.transportObserved(acknowledged: 900, written: 1000, at: 2 * second)
        // More is written and acknowledged all the time: the kernel of a relay that was stopped goes on.
        liveness.transportObserved(acknowledged: 999, written: 1500, at: 3 * second)
        liveness.bytesAcknowledged(someOutstanding: true, at: 4 * second)
        #expect(liveness.verdict(at: 5 * second) == nil)
        liveness.transportObserved(acknowledged: 1000, written: 2000, at: 4 * second)
        liveness.bytesAcknowledged(someOutstanding: true, at: 6 * second)
        #expect(liveness.verdict(at: 6 * second + second / 2 - 1) == nil)
        #expect(liveness.verdict(at: 6 * second + second / 2) == .pingUnanswered(nanoseconds: 9 * second / 2))
    }

    @Test func `without data from TCP only 8 s count`() {
        var liveness = answering()
        liveness.mediaWritten()
        _ = liveness.duePing(at: 2 * second)
        #expect(liveness.verdict(at: 9 * second) == nil)
        #expect(liveness.verdict(at: 10 * second) != nil)
    }

    @Test func `an answer to a later ping answers the earlier ones`() {
        var liveness = answering()
        var values: [UInt32] = []
        for tick in 1...4 {
            liveness.mediaWritten()
            values.append(liveness.duePing(at: UInt64(tick) * 2 * second)!)
        }
        #expect(liveness.pingAnswered(values[2], at: 9 * second) == 3 * second)
        #expect(liveness.pingAnswered(values[0], at: 9 * second) == nil)
        #expect(liveness.verdict(at: 15 * second) == nil)
        #expect(liveness.verdict(at: 16 * second) == .pingUnanswered(nanoseconds: 8 * second))
        #expect(liveness.pingAnswered(values[3], at: 16 * second) == 8 * second)
        #expect(liveness.verdict(at: 16 * second) == nil)
    }

    @Test func `a relay that never answers is assessed by TCP alone`() {
        var liveness = RelayLiveness(rules: rules)
        #expect(liveness.duePing(at: 0) == 1)
        liveness.bytesWritten(at: 0)
        liveness.bytesAcknowledged(someOutstanding: false, at: 0)
        #expect(liveness.verdict(at: 100 * second) == nil)
        #expect(!liveness.answersPings)
        liveness.bytesWritten(at: 100 * second)
        liveness.bytesWritten(at: 103 * second)
        #expect(liveness.verdict(at: 104 * second - 1) == nil)
        #expect(liveness.verdict(at: 104 * second) == .stalled(nanoseconds: 4 * second))
    }

    @Test func `progress with a rest outstanding starts the 4 s again`() {
        var liveness = answering()
        liveness.bytesWritten(at: 0)
        liveness.bytesAcknowledged(someOutstanding: true, at: 3 * second)
        #expect(liveness.verdict(at: 6 * second) == nil)
        #expect(liveness.verdict(at: 7 * second) == .stalled(nanoseconds: 4 * second))
    }

    @Test func `after the peer's FIN there are no pings and no verdict about them`() {
        var liveness = answering()
        liveness.mediaWritten()
        _ = liveness.duePing(at: 2 * second)
        liveness.peerHalfClosed()
        #expect(liveness.duePing(at: 20 * second) == nil)
        #expect(liveness.verdict(at: 20 * second) == nil)
    }

    @Test func `unknown values are not answers`() {
        var liveness = RelayLiveness(rules: rules)
        _ = liveness.duePing(at: 0)
        #expect(liveness.pingAnswered(77, at: 1) == nil)
        #expect(!liveness.answersPings)
    }

    @Test func `outstanding pings are bounded and the oldest stays the evidence`() {
        var liveness = answering()
        for tick in 1...100 {
            liveness.mediaWritten()
            _ = liveness.duePing(at: UInt64(tick) * 2 * second)
        }
        #expect(liveness.verdict(at: 200 * second) == .pingUnanswered(nanoseconds: 198 * second))
    }

    @Test func `what a relay has is what it read before it answered`() {
        var liveness = RelayLiveness(rules: rules)
        #expect(liveness.readUntil == nil)
        let first = liveness.duePing(at: second)
        _ = liveness.pingAnswered(first!, at: 2 * second)
        #expect(liveness.readUntil == second)
        liveness.mediaWritten()
        let next = liveness.duePing(at: 4 * second)
        // Its kernel has all of it, and goes on taking when the relay hangs.
        liveness.transportObserved(acknowledged: 9000, written: 9000, at: 5 * second)
        #expect(liveness.readUntil == second)
        _ = liveness.pingAnswered(next!, at: 6 * second)
        #expect(liveness.readUntil == 4 * second)
        _ = liveness.pingAnswered(77, at: 7 * second)
        #expect(liveness.readUntil == 4 * second)
        // Nobody asks any more.
        liveness.peerHalfClosed()
        #expect(liveness.readUntil == nil)
    }
}
