internal import Glibc

/// How long this machine slept: CLOCK_BOOTTIME goes on meanwhile, CLOCK_MONOTONIC stands still.
struct SleepWatch {
    private var offset = SleepWatch.read()

    /// Milliseconds since the last call, or since this was made; 0 for less than half a second, which is more than
    /// two readings lie apart.
    mutating func sinceLastLook() -> Int64 {
        let offset = Self.read()
        let slept = offset - self.offset
        guard slept >= 500 else { return 0 }
        self.offset = offset
        return slept
    }

    private static func read() -> Int64 {
        for _ in 0..<8 {
            let before = milliseconds(CLOCK_MONOTONIC)
            let boot = milliseconds(CLOCK_BOOTTIME)
            // A pause between the readings would look like a sleep.
            if milliseconds(CLOCK_MONOTONIC) - before <= 1 { return boot - before }
        }
        return milliseconds(CLOCK_BOOTTIME) - milliseconds(CLOCK_MONOTONIC)
    }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
