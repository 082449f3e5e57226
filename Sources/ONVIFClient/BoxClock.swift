internal import Glibc

/// This machine's clocks.
enum BoxClock {
    /// Since 1970, in milliseconds.
    static var wallMilliseconds: Int64 {
        let time = read(CLOCK_REALTIME)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Never set, and runs on while the machine sleeps; in nanoseconds.
    static var nanoseconds: UInt64 {
        let time = read(CLOCK_BOOTTIME)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
