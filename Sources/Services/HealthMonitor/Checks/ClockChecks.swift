internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog

/// The clock over time: how long it has not been synchronised, and whether it was set.
struct ClockWatch: Sendable {
    private var unsynchronisedSince: UInt64?
    private var last: HealthInstant?

    init() {}

    struct Outcome: Equatable, Sendable {
        var finding: Finding
        /// Seconds by which it was set since the last look; nil below 2 s.
        var step: Double?
    }

    mutating func took(_ reading: ClockReading, limits: HealthThresholds.Pair, was: HealthState?) -> Outcome {
        let now = reading.instant
        var step: Double?
        if let last {
            let passed = Double(now.uptime) - Double(last.uptime)
            let shown = Double(now.realtime) - Double(last.realtime)
            let difference = (shown - passed) / 1e9
            if abs(difference) > 2 { step = difference }
        }
        last = now
        return Outcome(finding: finding(reading, limits: limits), step: step)
    }

    private mutating func finding(_ reading: ClockReading, limits: HealthThresholds.Pair) -> Finding {
        let now = reading.instant
        let isUnset = now.realtimeSeconds < HealthThresholds.earliestTime
        if reading.isSynchronised == true {
            unsynchronisedSince = nil
            return Finding(.clock, nil, .ok, "synchronised, says \(reading.source)")
        }
        guard reading.isSynchronised == false || isUnset else {
            return Finding(.clock, nil, .unknown, reading.source)
        }
        let since = unsynchronisedSince ?? now.uptime
        unsynchronisedSince = since
        let seconds = now.seconds(since: since)
        let state = limits.state(seconds, was: nil, slack: 0)
        if isUnset {
            return Finding(
                .clock, nil, state == .fail ? .fail : .warn,
                "the clock says \(now.realtimeSeconds) s since 1970, which is before this program was built",
                code: .clockUnset)
        }
        return Finding(
            .clock, nil, state, "no time server was heard for \(seconds.tenths) s", code: .clockUnsynchronised)
    }
}
