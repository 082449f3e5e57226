import Testing

@testable import UplinkRate

/// Readings come from a kernel and counters of ours, and yet: none of them traps, or leads out of the limits.
struct HostileReadingTests {
    private static let values: [UInt64] = [
        0, 1, 1448, 40_000_000, 100_000_000, 1_000_000_000, 1 << 32, 1 << 53, 1 << 63, .max - 1, .max,
    ]

    private func check(_ rate: UplinkRate, _ decision: UplinkRate.Decision, _ limits: UplinkRate.Limits) {
        #expect(decision.target.isFinite && (limits.least...limits.most).contains(decision.target))
        #expect(rate.target == decision.target && rate.delay.isFinite && (0...60).contains(rate.delay))
        #expect(rate.measured.isFinite && rate.measured >= 0)
        #expect(decision.encoder.map { $0 >= 0 && Double($0) <= limits.most } ?? true)
    }

    @Test(arguments: [
        (0.0, 0.0), (150_000, 3_500_000), (5, 1), (.infinity, .infinity), (.nan, .nan), (-1, -1),
        (.greatestFiniteMagnitude, 1), (0, .leastNonzeroMagnitude), (0, 1e300),
    ])
    func `any readings in any order`(least: Double, most: Double) {
        let limits = UplinkRate.Limits(least: least, most: most)
        #expect(limits.most.isFinite && limits.least >= 0 && limits.least <= limits.most)
        for seed in 1...20 as ClosedRange<UInt64> {
            var random = FixedRandom(seed: seed)
            func value() -> UInt64 {
                Self.values[min(Int(random.next() * Double(Self.values.count)), Self.values.count - 1)]
            }
            var rate = UplinkRate(limits)
            for _ in 0..<300 {
                let decision = rate.take(
                    LinkReading(
                        instant: value(), queueDuration: value(), outstanding: value(), delivered: value(),
                        roundTrip: value(), leastRoundTrip: value(), frames: value(), audio: value()))
                check(rate, decision, limits)
            }
        }
    }

    @Test func `a cut never raises, whatever was read`() {
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = FixedRandom(seed: seed)
            var dialogue = LinkDialogue()
            for _ in 0..<500 {
                let before = dialogue.rate.target
                // Without silence, after which the target is another one.
                let bits = 1000 + Int(random.next() * 300_000)
                let decision = dialogue.passed(bits, waiting: Int(random.next() * random.next() * 2_000_000))
                check(dialogue.rate, decision, LinkDialogue.limits)
                if decision.target > before { #expect(dialogue.rate.delay < 0.1, "seed \(seed)") }
            }
        }
    }

    @Test func `a clock that was ahead for a moment holds nothing`() {
        var dialogue = LinkDialogue()
        dialogue.passed(200_000, waiting: 80_000, times: 20)
        let wild = LinkReading(
            instant: .max, queueDuration: 0, outstanding: 10_000, delivered: 1 << 40, roundTrip: 40_000_000,
            leastRoundTrip: 40_000_000, frames: 1 << 40, audio: 0)
        _ = dialogue.rate.take(wild)
        dialogue.passed(200_000, waiting: 80_000, times: 20)
        let cuts = (1...10).compactMap { tenth in
            dialogue.passed(50_000, waiting: 80_000 + tenth * 150_000).encoder
        }
        #expect(!cuts.isEmpty)
        dialogue.passed(200_000, waiting: 20_000, times: 100)
        #expect(dialogue.rate.pace.bitrate == 2_000_000)
    }
}
