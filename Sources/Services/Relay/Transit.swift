/// How long a subscriber's connection takes to get bytes to their peer, estimated from what left it.
///
/// The relay's own queue is not all that makes a frame late: what was handed to the connection waits there and in the
/// kernel, where nothing can be dropped any more.
struct Transit: Sendable {
    /// Shorter spans say little of a link that takes a segment now and then.
    static let span: UInt64 = 500_000_000
    /// So little is on its way all the time; who holds no more is not behind.
    static let negligible = 4 << 10

    /// Written but not acknowledged by the peer's kernel.
    private(set) var held = 0
    /// Bytes per second, smoothed; nil until it was seen.
    private(set) var rate: UInt64?
    private var mark: (left: UInt64, at: UInt64)?

    /// - Parameter written: bytes that the connection was given since it began, those of `held` included.
    mutating func observe(written: UInt64, held: Int, at now: UInt64) {
        self.held = held
        let left = written - min(written, UInt64(held))
        // Who has nothing to take does not show how fast it could.
        guard held > Self.negligible else { return mark = nil }
        guard let begin = mark, now > begin.at, left >= begin.left else { return mark = (left, now) }
        guard now - begin.at >= Self.span else { return }
        let latest = (left - begin.left).multipliedFullWidth(by: 1_000_000_000)
        let perSecond = (now - begin.at).dividingFullWidth((latest.high, latest.low)).quotient
        rate = rate.map { ($0 + perSecond) / 2 } ?? perSecond
        mark = (left, now)
    }

    /// Until a message that is handed over now has arrived, in nanoseconds; nil when nothing stands in its way, or
    /// nothing is known.
    func delay(of size: Int) -> UInt64? {
        guard held > Self.negligible, let rate else { return nil }
        guard rate > 0 else { return .max }
        let (value, overflow) = UInt64(held + size).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : value / rate
    }

    mutating func wrote(_ size: Int) {
        held += size
    }
}
