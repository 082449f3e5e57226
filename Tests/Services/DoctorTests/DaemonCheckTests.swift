import ControlAPI
import ErrorCatalog
import Foundation
import Settings
import Testing

@testable import Doctor

struct DaemonCheckTests {
    static func status(
        version: String = "0.2.0", streams: [StreamDocument.State] = [.live], problem: String? = nil,
        checks: [HealthCheck]? = [], evidence: String = ""
    ) -> BoxStatus {
        let cameras = streams.enumerated().map { index, state in
            CameraDocument(
                id: "c\(index)", name: "C\(index)", source: "test:", origin: "store",
                stream: StreamDocument(
                    camera: "c\(index)", stream: "c\(index)", state: state,
                    reason: state == .live ? nil : "the relay is away \(evidence)",
                    code: state == .live ? nil : .relayUnreachable, unit: "active"))
        }
        return BoxStatus(
            name: "porch-box", version: version, state: .ok, time: 1, uptimeSeconds: 1, generation: 27,
            configurationProblem: problem, cameras: cameras, relays: [], keyAccess: KeyAccessDocument(url: nil),
            health: checks.map {
                HealthReport(state: .ok, time: 1, checks: $0, ladder: LadderDocument(steps: []), recoveries: [:])
            }, secretProtection: "systemd-tpm2")
    }

    private func findings(_ status: BoxStatus, _ names: [String]) async throws -> [Finding] {
        let tree = try FixtureTree(healthyBoard)
        let daemon = try CannedDaemon(
            "\(tree.root)/run/watchbox/api.sock",
            answers: [
                "/api/v1/status": JSONDocument.text(status),
                "/api/v1/version": JSONDocument.text(VersionDocument(version: status.version)),
            ])
        defer { withExtendedLifetime(daemon) {} }
        var findings: [Finding] = []
        for name in names { findings.append(try await tree.finding(name, tree.environment(isOffline: false))) }
        return findings
    }

    @Test func `a box that is well`() async throws {
        let names = ["cameras", "health", "api", "generation", "versions", "secrets"]
        for (name, finding) in zip(names, try await findings(Self.status(), names)) {
            #expect(finding.state == .ok, "\(name): \(finding)")
        }
    }

    @Test func `a camera that is not live fails, with its own code`() async throws {
        let found = try await findings(Self.status(streams: [.live, .failed, .waiting]), ["cameras"])
        #expect(found[0].state == .fail && found[0].code == .relayUnreachable)
        #expect(
            found[0].evidence.hasPrefix("c1 is failed: the relay is away") && found[0].evidence.hasSuffix("and 1 more"))
        #expect(try await findings(Self.status(streams: [.starting]), ["cameras"])[0].state == .warn)
        #expect(try await findings(Self.status(streams: []), ["cameras"])[0].state == .ok)
    }

    @Test func `what the health daemon found is reported, and that it is silent`() async throws {
        let hot = HealthCheck(check: "heat", state: .warn, since: 1, evidence: "78 °C", code: .hot)
        let full = HealthCheck(
            check: "disk", object: "/data", state: .fail, since: 1, evidence: "full", code: .diskFull)
        var seen = full
        seen.isAcknowledged = true
        #expect(
            try await findings(Self.status(checks: [hot, full]), ["health"])[0].evidence
                == "disk /data: full, and 1 more")
        #expect(try await findings(Self.status(checks: [hot, seen]), ["health"])[0].state == .warn)
        #expect(try await findings(Self.status(checks: nil), ["health"])[0].state == .fail)
    }

    @Test func `another version, and a configuration that was not taken, are reported`() async throws {
        let found = try await findings(
            Self.status(version: "0.1.0", problem: "watchbox.toml:3"), ["versions", "generation"])
        #expect(found[0].state == .warn && found[0].evidence.contains("0.1.0"))
        #expect(found[1].state == .fail && found[1].code == .lastGoodInUse)
    }

    @Test func `what the daemon thinks of files and store together counts more than the files`() async throws {
        func finding(_ document: ValidationDocument) async throws -> Finding {
            let tree = try FixtureTree(["etc/watchbox/watchbox.toml": "camera.front = { sourc = \"test:\" }\n"])
            let daemon = try CannedDaemon(
                "\(tree.root)/run/watchbox/api.sock", answers: ["/api/v1/config/validate": JSONDocument.text(document)])
            defer { withExtendedLifetime(daemon) {} }
            // Alone the file has a key that is not known.
            #expect(try await tree.finding("config").state == .fail)
            return try await tree.finding("config", tree.environment(isOffline: false))
        }
        #expect(
            try await finding(ValidationDocument(isValid: true, files: ["a", "b"], issues: [])) == .ok("2 files valid"))
        let minor = ConfigurationIssue(
            code: .incompleteCamera, file: nil, line: nil, key: "camera.front", reason: "has no relay", hint: "Add one")
        let unknown = ConfigurationIssue(
            code: .unknownKey, file: "watchbox.toml", line: 3, key: "camera.front.bitrat", reason: "is not known",
            hint: "Write bitrate")
        let warned = try await finding(ValidationDocument(isValid: true, files: [], issues: [minor]))
        #expect(warned == .warn("camera.front has no relay", .incompleteCamera, hint: "Add one"))
        let failed = try await finding(ValidationDocument(isValid: false, files: [], issues: [minor, unknown]))
        #expect(failed.state == .fail && failed.code == .unknownKey)
        #expect(failed.evidence == "camera.front.bitrat (watchbox.toml:3) is not known, and 1 more problem")
    }

    @Test func `a daemon that is down, not asked, or not to be used by others`() async throws {
        let tree = try FixtureTree(healthyBoard)
        let online = tree.environment(isOffline: false)
        #expect(try await tree.finding("api", online).code == .unreachable)
        #expect(try await tree.finding("cameras", online).state == .unknown)
        try tree.write("run/watchbox/api.sock", "no socket")
        #expect(try await tree.finding("api", online).evidence.contains("is not a socket"))
        try FileManager.default.removeItem(atPath: "\(tree.root)/run/watchbox/api.sock")
        let daemon = try CannedDaemon("\(tree.root)/run/watchbox/api.sock", answers: [:])
        #expect(try await tree.finding("api").state == .ok)
        #expect(try await tree.finding("cameras").evidence == "not asked (--offline)")
        chmod("\(tree.root)/run/watchbox/api.sock", 0o666)
        #expect(try await tree.finding("api").evidence.contains("mode 666"))
        withExtendedLifetime(daemon) {}
    }

    @Test func `a daemon that takes connections and never answers is a finding`() async throws {
        let tree = try FixtureTree(healthyBoard)
        let daemon = try CannedDaemon("\(tree.root)/run/watchbox/api.sock", answers: nil)
        let chosen = DoctorCheck.all.filter { ["api", "cameras"].contains($0.name) }
        var environment = tree.environment(isOffline: false)
        environment.answerLimit = .milliseconds(500)
        let report = await CheckRunner(timeLimit: .seconds(60)).run(chosen, in: environment)
        #expect(report.findings.map(\.check) == ["cameras", "api"])
        #expect(report.findings[0].state == .unknown)
        #expect(report.findings[1].state == .fail && report.findings[1].code == .unreachable)
        withExtendedLifetime(daemon) {}
    }
}
