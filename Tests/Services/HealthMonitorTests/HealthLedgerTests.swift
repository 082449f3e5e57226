import ControlAPI
import ErrorCatalog
import Testing

@testable import HealthMonitor

final class HealthLedgerTests {
    private var ledger = HealthLedger()

    private func finding(_ state: HealthState, _ object: String? = "front") -> Finding {
        Finding(.publish, object, state, "\(state.rawValue) it is", code: .relayStalled)
    }

    private func took(_ state: HealthState, _ second: Double) -> String? {
        ledger.took([finding(state)], of: [.publish], object: "front", at: .at(second)).first.map {
            "\($0.from?.rawValue ?? "new") \($0.finding.state.rawValue)"
        }
    }

    private func acknowledge(_ object: String?) -> Bool { ledger.acknowledge(.publish, object: object) }

    @Test func `worse at once, better after it has lasted`() {
        #expect(took(.ok, 0) == nil)
        #expect(took(.warn, 2) == "ok warn")
        #expect(took(.fail, 4) == "warn fail")
        #expect(took(.ok, 6) == nil)
        #expect(ledger.state(.publish, "front") == .fail)
        #expect(took(.fail, 8) == nil)
        #expect(took(.ok, 10) == nil)
        #expect(took(.ok, 19) == nil)
        #expect(took(.ok, 20) == "fail ok")
    }

    @Test func `what is no longer known is unknown at once`() {
        #expect(took(.fail, 0) == "new fail")
        #expect(took(.unknown, 2) == "fail unknown")
        #expect(took(.ok, 4) == "unknown ok")
    }

    @Test func `since is given by the clock of now, which may have been set meanwhile`() throws {
        let atBoot = HealthInstant(uptime: 10_000_000_000, realtime: 10_000_000_000)
        _ = ledger.took([finding(.fail)], of: [.publish], at: atBoot)
        let later = HealthInstant(uptime: 70_000_000_000, realtime: 1_780_000_000_000_000_000)
        #expect(try #require(ledger.checks(at: later).first).since == 1_780_000_000 - 60)
    }

    @Test func `an acknowledgement holds until the state changes`() throws {
        #expect(!acknowledge(nil))
        _ = took(.warn, 0)
        #expect(!acknowledge("back"))
        #expect(acknowledge("front"))
        _ = took(.warn, 2)
        #expect(ledger.checks(at: .at(2)).map(\.isAcknowledged) == [true])
        _ = took(.fail, 4)
        #expect(ledger.checks(at: .at(4)).map(\.isAcknowledged) == [false])
    }

    @Test func `an acknowledgement of one object leaves the others open`() {
        _ = ledger.took([finding(.fail), finding(.fail, "back")], of: [.publish], at: .at(0))
        #expect(acknowledge("front"))
        let open = ledger.checks(at: .at(1)).filter { !$0.isAcknowledged }
        #expect(open.map(\.object) == ["back"])
        #expect(ledger.worst == .fail)
        #expect(acknowledge(nil))
        #expect(ledger.worst == .ok)
    }

    @Test func `an acknowledgement is for one cause, where a check knows several`() {
        func took(_ cause: String?, _ second: Double) -> Bool? {
            var finding = Finding(.memory, nil, .fail, "x", code: .processKilledForMemory)
            finding.cause = cause
            _ = ledger.took([finding], of: [.memory], at: .at(second))
            return ledger.checks(at: .at(second)).first?.isAcknowledged
        }
        #expect(took("others", 0) == false)
        let isFound = ledger.acknowledge(.memory, object: nil)
        #expect(isFound)
        #expect(took("others", 10) == true)
        #expect(took("box", 20) == false)
    }

    @Test func `what the monitor takes back is not acknowledged any more, what a person saw is`() {
        var known = Finding(.heat, nil, .warn, "x", code: .hot)
        known.isAcknowledged = true
        _ = ledger.took([known], of: [.heat], at: .at(0))
        #expect(ledger.worst == .ok)
        known.isAcknowledged = false
        _ = ledger.took([known], of: [.heat], at: .at(2))
        #expect(ledger.worst == .warn)
        let isFound = ledger.acknowledge(.heat, object: nil)
        #expect(isFound)
        _ = ledger.took([known], of: [.heat], at: .at(4))
        #expect(ledger.worst == .ok)
    }

    @Test func `what somebody has acknowledged is not the box's state, and what the monitor itself knows neither`() {
        _ = took(.fail, 0)
        #expect(ledger.worst == .fail)
        #expect(acknowledge("front"))
        #expect(ledger.worst == .ok)
        var known = Finding(.heat, nil, .warn, "x", code: .hot)
        known.isAcknowledged = true
        _ = ledger.took([known], of: [.heat], at: .at(2))
        #expect(ledger.worst == .ok)
        #expect(ledger.worstByCheck[.publish] == .fail)
        _ = took(.warn, 4)
        _ = took(.warn, 20)
        #expect(ledger.worst == .warn, "another state is news")
    }

    @Test func `what a lane does not report any more is gone, what others report stays`() {
        _ = ledger.took([finding(.fail, "front")], of: [.publish], object: "front", at: .at(0))
        _ = ledger.took([finding(.ok, "back")], of: [.publish], object: "back", at: .at(0))
        #expect(ledger.worst == .fail)
        _ = ledger.took([], of: [.publish], object: "front", at: .at(2))
        #expect(ledger.checks(at: .at(2)).map(\.object) == ["back"])
        #expect(ledger.worst == .ok)
    }

    @Test func `unknown is never taken for ok, and does not hide what is known`() {
        #expect(ledger.worst == .unknown)
        _ = ledger.took([Finding(.power, nil, .unknown, "x")], of: [.power], at: .at(0))
        #expect(ledger.worst == .unknown)
        _ = ledger.took([Finding(.heat, nil, .warn, "x", code: .hot)], of: [.heat], at: .at(0))
        #expect(ledger.worst == .warn)
        #expect(ledger.worstByCheck == [.power: .unknown, .heat: .warn])
    }
}
