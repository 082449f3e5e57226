import Media
import RTP
import TestSupport

/// One stream of a camera whose clock does not run at the rate that it announces, in virtual time: seconds of ours from
/// `WrongClock.begin` on.
struct WrongClock {
    static let begin = 1000 * second

    private let clockRate: Double
    /// Units by the camera's own clock.
    private let perSecond: Double
    private(set) var clock: StreamClock
    private var random: SeededGenerator
    /// When the newest unit was taken, by our clock and by the camera's.
    private(set) var taken = 0.0
    private var stamped = 0.0
    private var arrived = 0.0
    private var lastDecode = Int64.min

    private(set) var latest = 0.0
    private(set) var earliest = 0.0
    /// How far a unit stands from when it was taken.
    private(set) var presented = 0.0
    private(set) var leastStep = Double.infinity
    private(set) var mostStep = 0.0
    /// Decode times increase, and nothing is left out.
    private(set) var hasOrder = true
    /// I, P, B, B, P, B, B …
    private let hasB: Bool
    private var index = 0
    private var shown: [(stamp: Double, time: Double)] = []
    /// Frames that are shown before one that they belong behind, and less than 5 ms away from one.
    private(set) var inversions = 0
    private(set) var crowded = 0

    init(
        clockRate: Int, perSecond: Double, policy: StreamClock.Policy = .auto, seed: UInt64 = 7, hasB: Bool = false
    ) {
        self.hasB = hasB
        self.clockRate = Double(clockRate)
        self.perSecond = perSecond
        clock = StreamClock(clockRate: clockRate, policy: policy)
        random = SeededGenerator(seed: seed)
    }

    /// Forgets what was measured so far.
    mutating func forget() {
        (latest, earliest, leastStep, mostStep) = (0, 0, .infinity, 0)
        (inversions, crowded) = (0, 0)
    }

    /// - Parameters:
    ///   - rate: the camera's seconds in one of ours, at a time.
    ///   - way: when a unit arrives that was taken at a time; 0 to 20 ms are added.
    mutating func run(to end: Double, rate: (Double) -> Double, way: (Double) -> Double = { $0 }) {
        while taken < end {
            let last = (taken: taken, presented: presented)
            taken += 1 / perSecond / rate(taken)
            stamped += 1 / perSecond
            arrived = max(arrived, way(taken) + Double.random(in: 0...0.02, using: &random))
            let arrival = Self.begin + UInt64(arrived * 1e9)
            index += 1
            let stamp = stamped + (hasB && index > 1 ? index % 3 == 2 ? 2 : -1 : 0) / perSecond
            let timestamp = UInt32(truncatingIfNeeded: Int64(stamp * clockRate))
            guard let placement = clock.place(timestamp, arrival: arrival) else {
                hasOrder = false
                continue
            }
            hasOrder = hasOrder && placement.decodeTime.nanoseconds > lastDecode
            lastDecode = placement.decodeTime.nanoseconds
            presented = Double(placement.presentationTime.nanoseconds - Int64(Self.begin)) / 1e9
            latest = max(latest, arrived - presented)
            earliest = max(earliest, presented - arrived)
            if hasB { watchOrder(stamp) }
            guard last.taken > 0 else { continue }
            let step = (presented - last.presented) / (taken - last.taken)
            leastStep = min(leastStep, step)
            mostStep = max(mostStep, step)
        }
    }

    private mutating func watchOrder(_ stamp: Double) {
        for other in shown {
            let apart = (presented - other.time) * (stamp < other.stamp ? -1 : 1)
            if apart <= 0 { inversions += 1 } else if apart < 0.005 { crowded += 1 }
        }
        shown.append((stamp, presented))
        if shown.count > 6 { shown.removeFirst() }
    }

    var speed: Double? {
        if case .corrected(let speed) = clock.basis { speed } else { nil }
    }
}
