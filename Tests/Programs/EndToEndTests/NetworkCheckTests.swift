import ControlAPI
import Doctor
import Foundation
import Systemd
import TestSupport
import Testing

extension EndToEndTests.Secure {
    /// `watchboxctl netcheck` beside the real relay and the real KAS.
    @Suite struct NetworkCheck {
        private static let names = "DNS:localhost,IP:127.0.0.1"

        private static func report(
            _ stage: TestStage, relay: String, kas: String? = nil, url: String? = nil
        ) async throws -> NetworkCheckReport {
            let directory = stage.file("etc/watchbox")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let text = "version = 1\n[relay.main]\n\(relay)\n" + (kas.map { "[kas]\n\($0)\n" } ?? "")
            try Data(text.utf8).write(to: directory.appending(path: "watchbox.toml"))
            var environment = Environment(version: "1", units: SystemBus())
            environment.root = stage.directory.path
            return try await NetworkCheckRunner(in: environment, relay: url == nil ? nil : "main", url: url).run()
        }

        private static func finding(_ report: NetworkCheckReport, _ check: String) -> DoctorFinding? {
            report.findings.findings.first { $0.check == check }
        }

        @Test func `relay and KAS are measured through and through`() async throws {
            try await TestStage.run { stage in
                let authority = try await Authority(stage)
                let relay = try await stage.relay(options: try await authority.certificate("relay", for: Self.names))
                let kas = try await stage.keyAccess(
                    stream: "door", options: try await authority.certificate("kas", for: Self.names))
                let trust = "ca_file = \"\(authority.file)\""
                let report = try await Self.report(
                    stage, relay: "url = \"rtmps://localhost:\(relay.port)/live\"\n\(trust)",
                    kas: "url = \"https://localhost:\(kas.port)/kas\"\n\(trust)")
                let findings = report.findings.findings
                #expect(
                    findings.map(\.check) == [
                        "main dns", "main tcp", "main tls", "main rtt", "main mtu", "main upload", "kas dns", "kas tcp",
                        "kas tls", "kas rtt", "kas key",
                    ])
                #expect(findings.allSatisfy { $0.state != .fail && $0.state != .unknown }, "\(findings)")
                try #require(report.peers.count == 2)
                for peer in report.peers {
                    #expect(peer.certificateDays != nil)
                    #expect(peer.roundTripMilliseconds != nil)
                    #expect((peer.pathMTU ?? 0) >= 1280)
                }
                #expect(report.peers[0].tlsVersion == "TLS 1.3", "\(report.peers[0])")
                let upload = try #require(report.peers[0].uploadBitsPerSecond)
                #expect(upload > 0)
                #expect((1...16_000_000).contains(report.peers[0].uploadBytes ?? 0))
                print("upload to the relay on loopback: \(upload / 1e6) Mb/s, \(report.peers[0])")
            }
        }

        @Test func `a certificate that the camera would refuse is refused here`() async throws {
            try await TestStage.run { stage in
                let authority = try await Authority(stage)
                let relay = try await stage.relay(options: try await authority.certificate("relay", for: Self.names))
                let kas = try await stage.keyAccess(
                    stream: "door", options: try await authority.certificate("kas", for: Self.names))
                let report = try await Self.report(
                    stage, relay: "url = \"rtmps://localhost:\(relay.port)/live\"",
                    kas: "url = \"https://localhost:\(kas.port)/kas\"")
                for name in ["main tls", "kas tls", "kas key"] {
                    let finding = try #require(Self.finding(report, name))
                    #expect(finding.state == .fail && finding.code.map { "\($0)" } == "WB-4202", "\(finding)")
                    #expect(finding.hint != nil)
                }
                #expect(Self.finding(report, "main upload")?.state == .unknown)
                #expect(report.findings.state == .fail)
            }
        }

        @Test func `an unencrypted relay is measured, its secret is not shown`() async throws {
            try await TestStage.run { stage in
                let relay = try await stage.relay()
                let report = try await Self.report(
                    stage, relay: "secret = \"main-url\"",
                    url: "rtmp://127.0.0.1:\(relay.port)/live?key=very-secret-word")
                #expect(Self.finding(report, "main upload")?.state == .ok, "\(report)")
                #expect(Self.finding(report, "main tls")?.state == .ok)
                #expect(report.peers.map(\.name) == ["main"])
                let text = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
                #expect(!text.contains("secret-word"))
            }
        }

        @Test func `a secret address is said to be one`() async throws {
            try await TestStage.run { stage in
                let report = try await Self.report(stage, relay: "secret = \"main-url\"")
                let finding = try #require(Self.finding(report, "main dns"))
                #expect(finding.state == .unknown && finding.hint?.contains("--url-file") == true)
            }
        }

        @Test func `no one publishes where a camera may`() async throws {
            try await TestStage.run { stage in
                let relay = try await stage.relay()
                let report = try await Self.report(
                    stage, relay: "secret = \"main-url\"", url: "rtmp://127.0.0.1:\(relay.port)/live/stream-key")
                #expect(Self.finding(report, "main upload")?.state == .unknown)
                #expect(Self.finding(report, "main rtt")?.state == .ok)
                #expect(!stage.words(of: "relay").contains("stream-key"))
            }
        }

        @Test func `absent and strange peers are findings`() async throws {
            try await TestStage.run { stage in
                let port = try FreePort.take()
                let absent = try await Self.report(
                    stage, relay: "url = \"rtmp://127.0.0.1:\(port)/live\"",
                    kas: "url = \"https://watchbox.invalid/kas\"")
                #expect(Self.finding(absent, "main tcp")?.state == .fail)
                #expect(Self.finding(absent, "kas dns")?.state == .fail)
                #expect(Self.finding(absent, "main upload") == nil)
                // A KAS is not a relay, and a relay is not a KAS.
                let kas = try await stage.keyAccess(stream: "door")
                let relay = try await stage.relay()
                let strange = try await Self.report(
                    stage, relay: "url = \"rtmp://127.0.0.1:\(kas.port)/live\"",
                    kas: "url = \"http://127.0.0.1:\(relay.port)/kas\"")
                #expect(Self.finding(strange, "main tcp")?.state == .ok)
                #expect(Self.finding(strange, "main upload")?.state == .fail, "\(strange)")
                #expect(Self.finding(strange, "kas key")?.state == .fail)
            }
        }
    }
}
