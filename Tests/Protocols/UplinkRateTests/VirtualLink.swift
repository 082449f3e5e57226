/// Numbers that are the same each time.
struct FixedRandom {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 7919 &+ 12345 }

    /// From 0 to 1.
    mutating func next() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double((state >> 33) & 0x7FFF_FFFF) / Double(0x7FFF_FFFF)
    }
}

/// What a way does to packets, over time: seconds, and kilobits a second.
struct VirtualLink {
    struct Step {
        var from: Double
        var rate: Double
    }

    var steps: [Step]
    /// Nothing passes, in either direction.
    var outages: [Range<Double>] = []
    /// Part of the packets, in runs of so many on average (Gilbert).
    var loss = 0.0
    var burst = 1.0
    /// One way.
    var delay = 0.02
    /// From when on it takes so much longer, and how much; the last one counts.
    var detours: [(from: Double, delay: Double)] = []
    /// Of the bottleneck, in seconds: a packet that would wait longer is dropped.
    var queue = 0.3
    var duration = 75.0
    var seed: UInt64 = 1

    func rate(at time: Double) -> Double { steps.last { time >= $0.from }?.rate ?? steps[0].rate }
    func delay(at time: Double) -> Double { delay + (detours.last { time >= $0.from }?.delay ?? 0) }
    func isOut(at time: Double) -> Bool { outages.contains { $0.contains(time) } }

    /// A link of radio: each second another rate, a walk at random.
    static func radio(seed: UInt64) -> VirtualLink {
        var random = FixedRandom(seed: seed &* 99_991)
        var rate = 2500.0
        let steps = (0..<60).map { second in
            let step = (0..<4).reduce(-2.0) { sum, _ in sum + random.next() }
            rate = min(8000, max(500, rate * (1 + 0.45 * step)))
            return Step(from: Double(second), rate: rate)
        }
        return VirtualLink(steps: steps, delay: 0.03, queue: 0.5, duration: 60, seed: seed)
    }
}

/// The packets of a link, of all who share it.
final class Bottleneck {
    let link: VirtualLink
    private var random: FixedRandom
    private var busyUntil = 0.0
    private var isInBurst = false

    init(_ link: VirtualLink) {
        self.link = link
        random = FixedRandom(seed: link.seed)
    }

    /// - Returns: when it comes out at the other end; nil: it does not.
    func departure(of bytes: Int, at now: Double) -> Double? {
        if link.isOut(at: now) || loses() { return nil }
        busyUntil = max(busyUntil, now)
        if busyUntil - now > link.queue { return nil }
        busyUntil += Double(bytes) * 8 / (link.rate(at: now) * 1000)
        return busyUntil + link.delay(at: now)
    }

    private func loses() -> Bool {
        guard link.loss > 0 else { return false }
        guard link.burst > 1 else { return random.next() < link.loss }
        isInBurst =
            isInBurst ? random.next() >= 1 / link.burst : random.next() < link.loss / (1 - link.loss) / link.burst
        return isInBurst
    }
}
