/// How far a camera's clock and ours come apart, from when its units arrive.
///
/// A unit can be late by any amount, but never early: of each ten seconds the unit that was least late counts.
struct ClockDrift: Sendable {
    /// 10 s, in nanoseconds.
    private static let window: Int64 = 10_000_000_000
    /// An error is taken out within about this time.
    private static let settling = 20e9
    private static let limit = 500e-6
    private static let minute: Int64 = 60_000_000_000

    private struct Level: Sendable {
        var time: Int64
        /// Arrival minus the camera's time, nanoseconds.
        var value: Int64
    }

    private var windowBegin: Int64
    private var lowest = Int64.max
    private var level: Level?
    private var reference: Level?
    private var nextReference: Level?

    /// To be added to the camera's time, nanoseconds.
    private(set) var correction: Int64 = 0

    init(at arrival: Int64, correction: Int64 = 0) {
        windowBegin = arrival
        self.correction = correction
    }

    /// How much faster than ours the camera's clock runs.
    var partsPerMillion: Double? {
        guard let level, let reference, level.time - reference.time >= Self.minute else { return nil }
        return -Double(level.value - reference.value) / Double(level.time - reference.time) * 1e6
    }

    /// How far units stand before their arrival even at best, nanoseconds; 0 in the first ten seconds.
    var error: Int64 { level.map { $0.value - correction } ?? 0 }

    /// - time: the camera's, without correction; `passed` since the unit before.
    mutating func observe(time: Int64, arrival: Int64, passed: Int64) {
        let share = max(-Self.limit, min(Self.limit, Double(error) / Self.settling))
        correction += Int64(share * Double(max(0, min(Self.window, passed))))
        if arrival - windowBegin >= Self.window, lowest != .max { closeWindow(at: arrival) }
        lowest = min(lowest, arrival - time)
    }

    private mutating func closeWindow(at arrival: Int64) {
        let closed = Level(time: windowBegin, value: lowest)
        level = closed
        lowest = .max
        windowBegin = arrival
        if reference == nil {
            reference = closed
            nextReference = closed
        } else if let next = nextReference, closed.time - next.time >= 10 * Self.minute {
            // A crystal's drift follows its temperature: only the last 10 to 20 minutes count.
            reference = next
            nextReference = closed
        }
    }
}
