internal import Glibc

/// Nanoseconds of CLOCK_MONOTONIC.
enum MonotonicTime {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Of this thread's own work: what the machine does meanwhile does not count.
    static var ofThread: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// A duration that an operator or a program chose: never negative, no more than an hour.
    static func nanoseconds(_ duration: Duration) -> UInt64 {
        let bounded = min(max(duration, .zero), .seconds(3600))
        return UInt64(bounded.components.seconds) * 1_000_000_000
            + UInt64(bounded.components.attoseconds / 1_000_000_000)
    }
}
