internal import Platform

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
            let before = Int64(Clocks.monotonic / 1_000_000)
            let boot = Int64(Clocks.boot / 1_000_000)
            // A pause between the readings would look like a sleep.
            if Int64(Clocks.monotonic / 1_000_000) - before <= 1 { return boot - before }
        }
        return Int64(Clocks.boot / 1_000_000) - Int64(Clocks.monotonic / 1_000_000)
    }
}
