import ErrorCatalog
import Systemd
import Testing

@testable import ControlPlane

struct SupervisionTests {
    private static let unit = "watchbox-camera@a.service"
    private static let runs = [unit: Supervision.Wanted(runs: true, needsRestart: false)]

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
                [state("inactive")], wanted: Self.runs, busy: [], now: .seconds(tick * 2))
            if actions.contains(.job(.start, unit: Self.unit)) { starts.append(tick * 2) }
        }
        #expect(starts == [2, 4, 8, 16, 32, 64])
    }

    @Test func `a unit that systemd has not even loaded is started too`() {
        var supervision = Supervision()
        #expect(supervision.observed([], wanted: Self.runs, busy: [], now: .zero) == [])
        #expect(
            supervision.observed([], wanted: Self.runs, busy: [], now: .seconds(2)) == [.job(.start, unit: Self.unit)])
    }

    @Test func `a restart by somebody else is not disturbed`() {
        var supervision = Supervision()
        var actions: [Supervision.Action] = []
        for (tick, active) in ["active", "deactivating", "inactive", "activating", "active", "inactive", "active"]
            .enumerated()
        {
            actions += supervision.observed(
                [state(active)], wanted: Self.runs, busy: [], now: .seconds(tick * 2))
        }
        #expect(!actions.contains { if case .job = $0 { true } else { false } })
    }

    @Test func `a failed unit and one that has a job are left alone`() {
        var supervision = Supervision()
        for tick in 0..<5 {
            let failed = supervision.observed(
                [state("failed", result: "start-limit-hit")], wanted: Self.runs, busy: [], now: .seconds(tick))
            #expect(!failed.contains { if case .job = $0 { true } else { false } })
        }
        var other = Supervision()
        for tick in 0..<5 {
            #expect(
                other.observed([state("inactive")], wanted: Self.runs, busy: [Self.unit], now: .seconds(tick)) == [])
        }
    }

    @Test func `what should not run is stopped, and what is gone is forgotten`() {
        var supervision = Supervision()
        let stopped = [Self.unit: Supervision.Wanted(runs: false, needsRestart: false)]
        #expect(
            supervision.observed([state("active")], wanted: stopped, busy: [], now: .zero)
                == [.job(.stop, unit: Self.unit)])
        var other = Supervision()
        #expect(
            other.observed([state("activating")], wanted: [:], busy: [], now: .zero) == [.job(.stop, unit: Self.unit)])
        #expect(other.observed([state("failed")], wanted: [:], busy: [], now: .zero).contains(.forget(unit: Self.unit)))
    }

    @Test func `a unit that runs with older settings is restarted`() {
        var supervision = Supervision()
        let wanted = [Self.unit: Supervision.Wanted(runs: true, needsRestart: true)]
        #expect(supervision.observed([state("active")], wanted: wanted, busy: [], now: .zero) == [])
        #expect(
            supervision.observed([state("active")], wanted: wanted, busy: [], now: .seconds(2))
                == [.job(.restart, unit: Self.unit)])
    }

    @Test func `each change of a unit is told once, with its reason`() {
        var supervision = Supervision()
        func told(_ states: [UnitState]) -> [String] {
            supervision.observed(states, wanted: Self.runs, busy: [Self.unit], now: .zero).compactMap { action in
                guard case .tell(let notice) = action else { return nil }
                return "\(notice.code.map { "\($0) " } ?? "")\(notice.text)"
            }
        }
        #expect(told([state("inactive")]) == [])
        #expect(told([state("active")]) == ["runs"])
        #expect(told([state("active")]) == [])
        #expect(
            told([state("activating", sub: "auto-restart", result: "watchdog", restarts: 1)])
                == ["WB-2004 systemd started it again: it hung and was ended, 1 time so far"])
        #expect(told([state("active", restarts: 1, invocation: "2")]) == ["runs"])
        #expect(told([state("active", restarts: 1, invocation: "3")]) == ["was restarted"])
        #expect(told([state("failed", result: "start-limit-hit", restarts: 1)]) == ["WB-2003 it ended too often"])
        #expect(told([state("failed", result: "start-limit-hit", restarts: 1)]) == [])
        #expect(told([state("active", restarts: 1)]) == ["runs"])
        #expect(told([state("inactive", restarts: 1)]) == ["WB-2006 stopped"])
    }
}
