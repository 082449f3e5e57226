package import ControlAPI

/// From when on a reading is a warning or a failure (docs/ref/health.md, "Checks"), for the monitor and for
/// `watchboxctl doctor` alike. Shares are 0 to 1.
package enum HealthThresholds {
    package struct Pair: Sendable {
        package let warn: Double
        package let fail: Double
    }

    /// 2026-01-01, in seconds since 1970: no WatchBox was built before, so a clock that says less was never set.
    package static let earliestTime: Int64 = 1_767_225_600

    /// Seconds without an acknowledgement of the relay, or without a frame.
    package static let publishSeconds = Pair(warn: 5, fail: 30)
    /// Degrees Celsius.
    package static let heatCelsius = Pair(warn: 75, fail: 82)
    /// Share of blocks, and of inodes, in use.
    package static let diskUsed = Pair(warn: 0.90, fail: 0.97)
    /// Share of the last minute in which some task waited for memory.
    package static let memoryPressure = Pair(warn: 0.10, fail: 0.30)
    /// Share of the last minute in which some task waited for a processor.
    package static let processorPressure = Pair(warn: 0.80, fail: 0.95)
    /// Seconds without a synchronised clock.
    package static let unsynchronisedSeconds = Pair(warn: 120, fail: 900)
    /// Share of a collection's counter in use: a warning only.
    package static let ivUsed = 0.80
    /// Seconds for which a task may hang in the kernel.
    package static let stuckSeconds = 120.0
}

extension HealthThresholds.Pair {
    /// - Parameters:
    ///   - slack: how far a value must come back below a threshold that it has passed; else a value that trembles about
    ///     it would report a change with every look.
    package func state(_ value: Double, was: HealthState?, slack: Double) -> HealthState {
        if value >= (was == .fail ? fail - slack : fail) { return .fail }
        if value >= (was == .warn || was == .fail ? warn - slack : warn) { return .warn }
        return .ok
    }
}
