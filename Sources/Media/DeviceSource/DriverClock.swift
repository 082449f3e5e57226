/// Turns the driver's time stamps into instants of CLOCK_MONOTONIC that only grow, whatever a driver's clock does:
/// wraps, jumps, stands still, or is another clock.
struct DriverClock: Equatable, Sendable {
    /// Steps of the driver's clock that were not time.
    private(set) var steps: UInt64 = 0

    /// Nanoseconds. A frame is waited for at once, so it is seldom older than an encoder that was slow.
    static let oldest: UInt64 = 2_000_000_000
    /// Nanoseconds. No frame is from the future, but a driver may say when it is due instead of when it came.
    static let maxAhead: UInt64 = 100_000_000

    /// Added to a time stamp, modulo 2^64.
    private var offset: UInt64 = 0
    /// How long frames lately took from time stamp to here, nanoseconds; the least counts.
    private var delay: UInt64 = 0
    private var last: UInt64?

    /// When the frame was taken.
    ///
    /// - Parameters:
    ///   - timestamp: the driver's, nanoseconds; nil when it has none of this clock.
    ///   - received: CLOCK_MONOTONIC when the frame came, nanoseconds.
    mutating func instant(timestamp: UInt64?, received: UInt64) -> UInt64 {
        let instant = max(mapped(timestamp, received), last.map { $0 &+ 1 } ?? 0)
        last = instant
        return instant
    }

    private mutating func mapped(_ timestamp: UInt64?, _ received: UInt64) -> UInt64 {
        guard let timestamp else { return received }
        // A driver that has found back to the true clock is believed before one that has jumped a second time.
        if offset != 0, Self.isPlausible(timestamp, received) { offset = 0 }
        let instant = timestamp &+ offset
        if Self.isPlausible(instant, received) {
            let age = received > instant ? received - instant : 0
            delay = last == nil ? age : min(delay, age) &+ max(delay, age) / 64 &- min(delay, age) / 64
            return min(instant, received)
        }
        if last != nil { steps += 1 }
        offset = received &- delay &- timestamp
        return received &- delay
    }

    private static func isPlausible(_ instant: UInt64, _ received: UInt64) -> Bool {
        instant <= received ? received - instant <= oldest : instant - received <= maxAhead
    }
}
