internal import Glibc

/// The clocks of this machine.
public enum Moment {
    /// Seconds since 1970 (CLOCK_REALTIME).
    public static func unixSeconds() -> Int64 {
        Int64(read(CLOCK_REALTIME).tv_sec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
