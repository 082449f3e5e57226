import ErrorCatalog
import Systemd
import Testing

@testable import ControlPlane

struct SupervisionTests {
    private static let unit = "watchbox-camera@a.service"
    private static let runs = [unit: Supervision.Desired(runs: true, needsRestart: false)]

    private func state(
        _ active: String, sub: String = "", result: String = "success", restarts: UInt32 = 0, invocation: String = "1"
    ) -> UnitState {
        UnitState(
            name: Self.unit, load: "loaded", active: active, sub: sub, result: result, restarts: restarts,
            invocationID: invocation)
    }

    @Test func `a unit that is idle twice in a row is started, and then less and less often`() {
        var supervision = Supervision()
        var starts: [Int] = []
        for tick in 0..<60 {
            let actions = supervision.observed(
                [state("inactive")], desired: Self.runs, busy: [], now: .seconds(tick * 2))
            if actions.contains(.job(.start, unit: Self.unit)) { starts.append(tick * 2) }
        }
        #expect(starts == [2, 4, 8, 16, 32, 64])
    }

    @Test func `a unit that systemd has not even loaded is started too`() {
        var supervision = Supervision()
        #expect(supervision.observed([], desired: Self.runs, busy: [], now: .zero) == [])
        #expect(
            supervision.observed([], desired: Self.runs, busy: [], now: .seconds(2)) == [.job(.start, unit: Self.unit)])
    }

    @Test func `a restart by somebody else is not disturbed`() {
        var supervision = Supervision()
        var actions: [Supervision.Action] = []
        for (tick, active) in ["active", "deactivating", "inactive", "activating", "active", "inactive", "active"]
            .enumerated()
        {
            actions += supervision.observed(
                [state(active)], desired: Self.runs, busy: [], now: .seconds(tick * 2))
        }
        #expect(!actions.contains { if case .job = $0 { true } else { false } })
    }

    @Test func `a failed unit and one that has a job are left alone`() {
        var supervision = Supervision()
        for tick in 0..<5 {
            let failed = supervision.observed(
                [state("failed", result: "start-limit-hit")], desired: Self.runs, busy: [], now: .seconds(tick))
            #expect(!failed.contains { if case .job = $0 { true } else { false } })
        }
        var other = Supervision()
        for tick in 0..<5 {
            #expect(
                other.observed([state("inactive")], desired: Self.runs, busy: [Self.unit], now: .seconds(tick)) == [])
        }
    }

    @Test func `what should not run is stopped, and what is gone is forgotten`() {
        var supervision = Supervision()
        let stopped = [Self.unit: Supervision.Desired(runs: false, needsRestart: false)]
        #expect(
            supervision.observed([state("active")], desired: stopped, busy: [], now: .zero)
                == [.job(.stop, unit: Self.unit)])
        var other = Supervision()
        #expect(
            other.observed([state("activating")], desired: [:], busy: [], now: .zero) == [.job(.stop, unit: Self.unit)])
        #expect(
            other.observed([state("failed")], desired: [:], busy: [], now: .zero).contains(.forget(unit: Self.unit)))
    }

    @Test func `a unit that runs with older settings is restarted`() {
        var supervision = Supervision()
        let desired = [Self.unit: Supervision.Desired(runs: true, needsRestart: true)]
        #expect(supervision.observed([state("active")], desired: desired, busy: [], now: .zero) == [])
        #expect(
            supervision.observed([state("active")], desired: desired, busy: [], now: .seconds(2))
                == [.job(.restart, unit: Self.unit)])
    }

    @Test func `each change of a unit is reported once, with its reason`() {
        var supervision = Supervision()
        func reported(_ states: [UnitState]) -> [String] {
            supervision.observed(states, desired: Self.runs, busy: [Self.unit], now: .zero).compactMap { action in
                guard case .report(let notice) = action else { return nil }
                return "\(notice.code.map { "\($0) " } ?? "")\(notice.text)"
            }
        }
        #expect(reported([state("inactive")]) == [])
        #expect(reported([state("active")]) == ["runs"])
        #expect(reported([state("active")]) == [])
        #expect(
            reported([state("activating", sub: "auto-restart", result: "watchdog", restarts: 1)])
                == ["WB-2004 systemd started it again: it hung and was ended, 1 time so far"])
        #expect(reported([state("active", restarts: 1, invocation: "2")]) == ["runs"])
        #expect(reported([state("active", restarts: 1, invocation: "3")]) == ["was restarted"])
        #expect(reported([state("failed", result: "start-limit-hit", restarts: 1)]) == ["WB-2003 it ended too often"])
        #expect(reported([state("failed", result: "start-limit-hit", restarts: 1)]) == [])
        #expect(reported([state("active", restarts: 1)]) == ["runs"])
        #expect(reported([state("inactive", restarts: 1)]) == ["WB-2006 stopped"])
    }
}
