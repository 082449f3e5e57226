internal import Glibc

/// The time of day, for tokens and for what outlives the process.
enum WallClock {
    /// Unix seconds.
    @Sendable static func seconds() -> Int64 { read(CLOCK_REALTIME).seconds }

    /// Unix milliseconds.
    @Sendable static func milliseconds() -> Int64 {
        let (seconds, nanoseconds) = read(CLOCK_REALTIME)
        return seconds &* 1000 &+ nanoseconds / 1_000_000
    }
}

/// CLOCK_BOOTTIME: goes on while the machine sleeps, never jumps.
enum MonotonicClock {
    @Sendable static func nanoseconds() -> UInt64 {
        let (seconds, nanoseconds) = read(CLOCK_BOOTTIME)
        return UInt64(seconds) &* 1_000_000_000 &+ UInt64(nanoseconds)
    }
}

private func read(_ clock: clockid_t) -> (seconds: Int64, nanoseconds: Int64) {
    var time = timespec()
    clock_gettime(clock, &time)
    return (Int64(time.tv_sec), Int64(time.tv_nsec))
}
