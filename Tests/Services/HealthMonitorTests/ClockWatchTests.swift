import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxReadings
@testable import HealthMonitor

final class ClockWatchTests {
    private let limits = HealthThresholds.unsynchronisedSeconds

    private var watch = ClockWatch()

    private func took(_ reading: ClockReading) -> ClockWatch.Outcome { watch.took(reading, limits: limits, was: nil) }

    private func reading(_ synchronised: Bool?, _ uptime: Double, realtime: Double? = nil) -> ClockReading {
        var instant = HealthInstant.at(uptime)
        if let realtime { instant.realtime = Int64(realtime * 1e9) }
        return ClockReading(isSynchronised: synchronised, source: "a test", instant: instant)
    }

    @Test func `an unsynchronised clock is a warning after 2 and a failure after 15 minutes`() {
        func state(_ uptime: Double) -> HealthState {
            took(reading(false, uptime)).finding.state
        }
        #expect(state(10) == .ok)
        #expect(state(131) == .warn)
        #expect(state(911) == .fail)
        #expect(took(reading(true, 920)).finding.state == .ok)
        #expect(state(930) == .ok)
    }

    @Test func `a clock that was never set says so at once`() {
        let finding = took(reading(false, 5, realtime: 12)).finding
        #expect(finding.state == .warn)
        #expect(finding.code == .clockUnset)
        // No one can say whether it is synchronised, but it is certainly not set.
        #expect(took(reading(nil, 6, realtime: 13)).finding.code == .clockUnset)
    }

    @Test func `what cannot be asked is unknown`() {
        #expect(took(reading(nil, 5)).finding.state == .unknown)
    }

    @Test(arguments: [(1.9, false), (2.1, true), (-3600, true), (3600, true), (-1.9, false)])
    func `a step of more than 2 seconds is reported, either way`(step: Double, isReported: Bool) {
        #expect(took(reading(true, 10, realtime: 1_780_000_010)).step == nil)
        let outcome = took(reading(true, 20, realtime: 1_780_000_020 + step))
        #expect((outcome.step != nil) == isReported)
        if let reported = outcome.step { #expect(abs(reported - step) < 0.001) }
        #expect(took(reading(true, 30, realtime: 1_780_000_030 + step)).step == nil)
    }
}
