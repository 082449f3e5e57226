/// Nanoseconds for deadlines.
enum MonotonicTime {
    /// A duration that an operator or a program chose: never negative, no more than an hour.
    static func nanoseconds(_ duration: Duration) -> UInt64 {
        let bounded = min(max(duration, .zero), .seconds(3600))
        return UInt64(bounded.components.seconds) * 1_000_000_000
            + UInt64(bounded.components.attoseconds / 1_000_000_000)
    }
}
