import UplinkRate

/// A conversation with ``UplinkRate``: a reading each tenth of a second.
struct LinkDialogue {
    var rate: UplinkRate
    private var reading = LinkReading(
        instant: 5_000_000_000, queueDuration: 0, outstanding: 0, delivered: 0, roundTrip: 40_000_000,
        leastRoundTrip: 40_000_000, frames: 0, audio: 0)

    static let limits = UplinkRate.Limits(least: 200_000, most: 2_000_000)

    init(_ limits: UplinkRate.Limits = limits) { rate = UplinkRate(limits) }

    var instant: UInt64 { reading.instant }

    /// - Parameters:
    ///   - bits: that the link delivered in a tenth of a second.
    ///   - waiting: bits that wait, or are on their way, at its end.
    ///   - queued: nanoseconds of video that wait.
    mutating func passed(_ bits: Int, waiting: Int = 0, queued: UInt64 = 0) -> UplinkRate.Decision {
        reading.instant += 100_000_000
        reading.delivered += UInt64(bits / 8)
        reading.outstanding = UInt64(waiting / 8)
        reading.queueDuration = queued
        reading.frames += 3
        return rate.take(reading)
    }

    /// The same for some time.
    ///
    /// - Returns: what the encoder was given.
    @discardableResult
    mutating func passed(_ bits: Int, waiting: Int = 0, times: Int) -> [Int] {
        (0..<times).compactMap { _ in passed(bits, waiting: waiting).encoder }
    }

    /// The relay is connected to again, after a second.
    mutating func reconnected() {
        reading.instant += 1_000_000_000
        reading.delivered = 0
        rate.connected()
    }
}
