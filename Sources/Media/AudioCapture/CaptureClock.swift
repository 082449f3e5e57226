internal import CALSA
internal import Glibc
internal import Platform

/// The time that a capture lives in: the machine's, or a test's.
protocol CaptureClock {
    /// CLOCK_MONOTONIC in nanoseconds.
    var now: UInt64 { get }
    /// Blocks until `instant`.
    func sleep(until instant: UInt64)
}

struct MonotonicClock: CaptureClock {
    var now: UInt64 { Clocks.monotonic }

    func sleep(until instant: UInt64) {
        var time = timespec(tv_sec: Int(instant / 1_000_000_000), tv_nsec: Int(instant % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
