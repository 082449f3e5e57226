internal import CameraModel

/// The newest event as clocks on the wall show it: the time that it had when it came, unless the clock was set meanwhile. Without I/O.
struct LastEvent {
    /// Milliseconds by which two readings of two clocks may differ.
    private static let tolerance: Int64 = 1000

    private var event: RecordingStatistics.Event?
    private var instant: UInt64 = 0
    /// Milliseconds that the wall clock was ahead of the other one.
    private var offset: Int64 = 0

    /// - Parameters:
    ///   - last: the newest event, at an instant of CLOCK_MONOTONIC in nanoseconds; nil: there was none.
    ///   - wall: milliseconds since 1970, now.
    ///   - monotonic: CLOCK_MONOTONIC in nanoseconds, now.
    mutating func event(
        _ last: (cause: RecordingStatistics.Event.Cause, instant: UInt64)?, wall: Int64, monotonic: UInt64
    ) -> RecordingStatistics.Event? {
        guard let last else { return nil }
        let offset = wall - Int64(clamping: monotonic / 1_000_000)
        if let event, event.cause == last.cause, instant == last.instant,
            (self.offset - Self.tolerance...self.offset + Self.tolerance).contains(offset)
        {
            return event
        }
        (instant, self.offset) = (last.instant, offset)
        event = .init(cause: last.cause, time: offset + Int64(clamping: last.instant / 1_000_000))
        return event
    }
}
