internal import Glibc

/// The clocks of this machine.
public enum Moment {
    /// Seconds since 1970 (CLOCK_REALTIME).
    public static func unixSeconds() -> Int64 {
        Int64(read(CLOCK_REALTIME).tv_sec)
    }

    /// CLOCK_MONOTONIC; comparable between the processes of one machine.
    public static func monotonicNanoseconds() -> UInt64 {
        let time = read(CLOCK_MONOTONIC)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
