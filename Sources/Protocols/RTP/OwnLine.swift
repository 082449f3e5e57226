/// Where a camera's units would stand if its clock had been believed all along, kept from when it was first doubted.
///
/// A line that is too narrow for some seconds looks like a clock that runs slow: units come later and later in even
/// steps. But when it clears, they come back to exactly here. Behind a clock that runs wrong they never do.
///
/// Instants are arrivals on CLOCK_MONOTONIC; all times are nanoseconds.
struct OwnLine: Sendable {
    private static let millisecond: Int64 = 1_000_000
    /// A line that is too narrow for longer makes a timeline of its own.
    private static let maxDuration: Int64 = 120_000_000_000
    /// So late are units on a line that has room for them, at least now and then.
    private static let lateLimit = 20 * millisecond
    /// So late are none.
    private static let awayLimit = 100 * millisecond
    /// Less than what makes one doubt; more than what frames out of order are ahead.
    private static let aheadLimit = 200 * millisecond
    private static let least = 3
    /// Timestamps that stand still cross the line once, and stay nowhere near it.
    private static let minPassed = 100 * millisecond

    /// Of its time on the scale of `TimeMap`, what is not the camera's own.
    private let offset: Int64
    private let began: Int64
    private var near = 0
    private var firstNear: Int64 = 0

    init(map: TimeMap, at arrival: Int64) {
        offset = map.time(of: map.end) - map.end
        began = arrival
    }

    func time(of camera: Int64) -> Int64 { camera + offset }

    /// Takes a unit that is shown behind all before it.
    ///
    /// - Parameter lateness: by this line.
    /// - Returns: whether units are where they belong again.
    mutating func isBack(_ lateness: Int64, camera: Int64, arrival: Int64) -> Bool {
        guard lateness < Self.awayLimit, lateness > -Self.aheadLimit, arrival - began < Self.maxDuration else {
            near = 0
            return false
        }
        if lateness <= Self.lateLimit {
            if near == 0 { firstNear = camera }
            near += 1
        }
        return near >= Self.least && camera - firstNear >= Self.minPassed
    }

    /// How many of our seconds one of the camera's must last to lead units back that stand ahead of this line, or
    /// behind it; nil: they are there.
    ///
    /// - Parameter time: within which a small distance shrinks to a third.
    func rate(from map: TimeMap, within time: Int64) -> Double? {
        let ahead = map.time(of: map.end) - self.time(of: map.end)
        guard abs(ahead) >= Self.millisecond else { return nil }
        return 1 - max(-0.25, min(0.5, Double(ahead) / Double(time)))
    }
}
