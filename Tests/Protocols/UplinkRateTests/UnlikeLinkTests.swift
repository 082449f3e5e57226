import Testing

@testable import UplinkRate

/// Ways and cameras that are unlike those which the bars are for: what must never happen to them, in virtual time. The
/// figures are printed.
struct UnlikeLinkTests {
    typealias Kind = UplinkRateTests.Kind

    private func text(_ name: String, _ kind: Kind, _ outcome: VirtualPublisher.Outcome) -> String {
        let use = outcome.use.map { "\(Int($0.rounded()))" }.joined(separator: "/")
        return
            "\(name), \(kind): frames \((outcome.frames * 10).rounded() / 10) %, use \(use) %, p95 \(Int(outcome.p95)) ms, "
            + "\(outcome.changes) changes, at least \(outcome.least / 1000) kbit/s"
    }

    /// A radio that changes its cell, a tunnel that changes its path: no queue, though the round trip says so at first.
    @Test(arguments: Kind.allCases, [0.08, 0.11, 0.16, 0.26])
    func `a way that becomes longer is found out`(kind: Kind, roundTrip: Double) {
        for rate in [8000.0, 20000] {
            // A step for what follows, so that it has a use of its own.
            let link = VirtualLink(
                steps: [.init(from: 0, rate: rate), .init(from: 20, rate: rate), .init(from: 50, rate: rate)],
                detours: [(20, roundTrip / 2)])
            let outcome = VirtualPublisher.outcome(over: link, kind.congestion)
            let text = text("\(Int(1000 * roundTrip)) ms more at \(Int(rate)) kbit/s", kind, outcome)
            print(text)
            #expect(outcome.frames >= 99 && outcome.use[2] >= 90, "\(text)")
        }
    }

    @Test(arguments: Kind.allCases)
    func `a way whose length changes all the time`(kind: Kind) {
        for most in [0.11, 0.16] {
            var random = FixedRandom(seed: 7)
            let link = VirtualLink(
                steps: [.init(from: 0, rate: 8000)],
                detours: (0..<150).map { (Double($0) / 2, random.next() * most / 2) })
            let outcome = VirtualPublisher.outcome(over: link, kind.congestion)
            let text = text("up to \(Int(1000 * most)) ms more", kind, outcome)
            print(text)
            #expect(outcome.frames >= 99 && outcome.use[0] >= 60, "\(text)")
        }
    }

    @Test(arguments: Kind.allCases, [1, 2, 5, 10, 15, 60])
    func `frames that are far apart are no queue`(kind: Kind, frameRate: Double) {
        for rate in [5000.0, 6000, 14000] {
            let link = VirtualLink(steps: [.init(from: 0, rate: rate)])
            let outcome = VirtualPublisher.outcome(over: link, kind.congestion, .init(frameRate: frameRate))
            #expect(outcome.use[0] >= 90 && outcome.frames >= 98, "\(text("\(frameRate) a second", kind, outcome))")
        }
        let step = VirtualLink(
            steps: [.init(from: 0, rate: 4000), .init(from: 20, rate: 1000), .init(from: 40, rate: 4000)])
        let outcome = VirtualPublisher.outcome(over: step, kind.congestion, .init(frameRate: frameRate))
        let text = text("step, \(Int(frameRate)) a second", kind, outcome)
        print(text)
        #expect(outcome.changes > 0 && outcome.use.allSatisfy { $0 >= 60 }, "\(text)")
    }

    /// Audio is never dropped, and takes its part of a narrow link.
    @Test(arguments: Kind.allCases)
    func `audio has its room`(kind: Kind) {
        for rate in [400.0, 600, 1000] {
            let link = VirtualLink(steps: [.init(from: 0, rate: rate)])
            let outcome = VirtualPublisher.outcome(over: link, kind.congestion, .init(audio: 128_000))
            let text = text("128 kbit/s of audio on \(Int(rate))", kind, outcome)
            print(text)
            #expect(outcome.frames >= 95 && outcome.p95 < (rate < 600 ? 1000 : 500) && outcome.use[0] >= 40, "\(text)")
        }
    }

    /// Without a word to each other.
    @Test(arguments: Kind.allCases)
    func `cameras that share a link all live`(kind: Kind) {
        for (rate, count) in [(2000.0, 2), (4000, 2), (4000, 4)] {
            let link = VirtualLink(steps: [.init(from: 0, rate: rate)], duration: 120)
            let all = VirtualPublisher.together(
                over: link, (0..<count).map { _ in (kind.congestion, VirtualPublisher.Media()) })
            let parts = all.map { $0.later / (rate * 1000 / Double(count)) }
            print(
                "\(count) on \(Int(rate)) kbit/s, \(kind), parts of an equal one: \(parts.map { ($0 * 100).rounded() / 100 })"
            )
            #expect(
                parts.allSatisfy { $0 >= 0.3 } && parts.reduce(0, +) >= 0.7 * Double(count))
        }
    }
}
