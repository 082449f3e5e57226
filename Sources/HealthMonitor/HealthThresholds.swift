/// From when on a reading is a warning or a failure (docs/ref/health.md, "Checks"). Shares are 0 to 1.
enum HealthThresholds {
    struct Pair: Sendable {
        let warn: Double
        let fail: Double
    }

    /// Seconds without an acknowledgement of the relay, or without a frame.
    static let publishSeconds = Pair(warn: 5, fail: 30)
    /// Degrees Celsius.
    static let heatCelsius = Pair(warn: 75, fail: 82)
    /// Share of blocks, and of inodes, in use.
    static let diskUsed = Pair(warn: 0.90, fail: 0.97)
    /// Share of the last minute in which some task waited for memory.
    static let memoryPressure = Pair(warn: 0.10, fail: 0.30)
    /// Share of the last minute in which some task waited for a processor.
    static let processorPressure = Pair(warn: 0.80, fail: 0.95)
    /// Seconds without a synchronised clock.
    static let unsynchronisedSeconds = Pair(warn: 120, fail: 900)
    /// Share of a collection's counter in use: a warning only.
    static let ivUsed = 0.80
    /// Seconds for which a task may hang in the kernel.
    static let stuckSeconds = 120.0
}
