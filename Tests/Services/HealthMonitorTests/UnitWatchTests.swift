import ControlAPI
import ErrorCatalog
import Systemd
import Testing

@testable import HealthMonitor

struct UnitWatchTests {
    private func unit(
        _ active: String, _ sub: String = "running", name: String = "watchbox-camera@front.service",
        result: String = "success", restarts: UInt32 = 0
    ) -> UnitState {
        UnitState(name: name, load: "loaded", active: active, sub: sub, result: result, restarts: restarts)
    }

    @Test func `units are recognised by what systemd says of them`() {
        func reported(_ unit: UnitState) -> String {
            let finding = UnitWatch.finding(unit, restarts: 0)
            return "\(finding.object ?? "") \(finding.state.rawValue) \(finding.code?.description ?? "-")"
        }
        #expect(reported(unit("active")) == "watchbox-camera@front ok -")
        #expect(reported(unit("failed", "failed", result: "start-limit-hit")) == "watchbox-camera@front fail WB-2003")
        #expect(reported(unit("failed", "failed", result: "watchdog")) == "watchbox-camera@front fail WB-2004")
        #expect(reported(unit("failed", "failed", result: "oom-kill")) == "watchbox-camera@front fail WB-6004")
        #expect(
            reported(unit("activating", "auto-restart", result: "watchdog")) == "watchbox-camera@front warn WB-2004")
        #expect(
            reported(unit("failed", "failed", name: "watchbox-relay.service", result: "exit-code"))
                == "watchbox-relay fail WB-8009")
        #expect(reported(unit("inactive", "dead", name: "watchbox-relay.service")) == "watchbox-relay ok -")
        #expect(reported(unit("inactive", "dead", name: "watchbox-control.service")) == "watchbox-control fail WB-8001")
    }

    @Test func `a unit that is restarted again and again is reported although it runs`() {
        var watch = UnitWatch()
        func state(_ restarts: UInt32, _ second: Double) -> HealthState? {
            watch.took([unit("active", restarts: restarts)], at: .at(second)).first?.state
        }
        #expect(state(5, 0) == .ok)
        #expect(state(6, 10) == .ok)
        #expect(state(8, 20) == .warn)
        #expect(state(8, 615) == .ok)
        // Somebody started it by hand: the count begins again.
        #expect(state(0, 620) == .ok)
        #expect(state(3, 630) == .warn)
    }

    @Test func `a unit that is not installed is not reported`() {
        var watch = UnitWatch()
        var missing = unit("inactive", "dead")
        missing.load = "not-found"
        let findings = watch.took([missing], at: .at(0))
        #expect(findings == [])
    }

    @Test func `names of helper units are escaped as systemd wants them`() {
        #expect(UnitNames.deviceReset("001/004") == "watchbox-usb-reset@001-004.service")
        #expect(UnitNames.linkRenewal("eth0") == "watchbox-link-renew@eth0.service")
        #expect(UnitNames.cameraID(UnitNames.camera("front-door")) == "front-door")
        #expect(UnitNames.cameraID("watchbox-relay.service") == nil)
    }
}
