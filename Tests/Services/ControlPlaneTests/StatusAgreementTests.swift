import ControlAPI
import ErrorCatalog
import Testing

@testable import ControlPlane

/// One screen, one truth: no camera is live beside a relay that is gone.
struct StatusAgreementTests {
    private func camera(
        _ id: String, _ state: StreamDocument.State = .live, acknowledged: Double? = 0.4, relay: String = "main"
    ) -> CameraDocument {
        CameraDocument(
            id: id, name: id, source: "test:", origin: "store",
            stream: StreamDocument(
                camera: id, stream: id, state: state, relay: relay, acknowledgedSecondsAgo: acknowledged,
                unit: "active"))
    }

    private func health(_ checks: [HealthCheck], _ state: HealthState = .fail) -> HealthReport {
        HealthReport(state: state, time: 1, checks: checks, ladder: LadderDocument(steps: []), recoveries: [:])
    }

    private let refused = HealthCheck(
        check: "relay", object: "main", state: .fail, since: 1, evidence: "Connection refused",
        code: .relayUnreachable, hint: "watchboxctl relay test")

    @Test(arguments: [nil, 5, 60])
    func `a stream that is not acknowledged is not live at a relay that refuses`(acknowledged: Double?) throws {
        let reported = StatusAgreement(
            [camera("a", acknowledged: acknowledged), camera("b", acknowledged: acknowledged, relay: "other")],
            health([refused]))
        #expect(reported.cameras.map(\.stream.state) == [.waiting, .live])
        #expect(reported.cameras[0].stream.reason == "Connection refused")
        #expect(reported.cameras[0].stream.code == .relayUnreachable)
        #expect(reported.cameras[0].stream.hint == "watchboxctl relay test")
        #expect(reported.health == health([refused]))
    }

    @Test func `a relay that acknowledges at this moment is there, whatever was read before`() throws {
        let silent = HealthCheck(
            check: "publish", object: "a", state: .fail, since: 1, evidence: "no acknowledged frame for 40 s",
            code: .relayUnreachable)
        let reported = StatusAgreement(
            [camera("a"), camera("b", .waiting, acknowledged: 40)], health([refused, silent]))
        #expect(reported.cameras.map(\.stream.state) == [.live, .waiting])
        let report = try #require(reported.health)
        #expect(report.checks.map(\.state) == [.ok, .ok])
        #expect(report.checks[0].evidence == "a is acknowledged at this moment")
        #expect(report.checks[0].code == nil && report.checks[0].hint == nil)
        #expect(report.state == .ok)
    }

    @Test func `what else is wrong stays as it was reported`() {
        let others = [
            HealthCheck(check: "disk", state: .warn, since: 1, evidence: "90 %"),
            HealthCheck(check: "publish", object: "a", state: .warn, since: 1, evidence: "none", code: .noFrames),
            HealthCheck(check: "relay", object: "other", state: .unknown, since: 1, evidence: "no name server"),
        ]
        let reported = StatusAgreement([camera("a")], health([refused] + others))
        #expect(reported.health?.checks.dropFirst() == others[...])
        #expect(reported.health?.state == .warn)
        #expect(StatusAgreement([camera("a")], health(others, .warn)).health == health(others, .warn))
        #expect(StatusAgreement([camera("a", acknowledged: nil)], nil).cameras[0].stream.state == .live)
    }
}
