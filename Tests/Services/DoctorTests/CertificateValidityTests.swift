import ControlAPI
import Cryptography
import ErrorCatalog
import Foundation
import Testing

@testable import Doctor

struct CertificateValidityTests {
    /// Made with OpenSSL, which says what they hold.
    static let untilNovember2036 = """
        -----BEGIN CERTIFICATE-----
        MIIBhjCCASugAwIBAgIURdpPl2tzGPKneZJ5bPhlokv0yL8wCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNd2F0Y2hib3gtdGVzdDAeFw0yNjExMjEyMTU4MDVaFw0zNjEx
        MTgyMTU4MDVaMBgxFjAUBgNVBAMMDXdhdGNoYm94LXRlc3QwWTATBgcqhkjOPQIB
        BggqhkjOPQMBBwNCAATMpBLVaa83YU1i4VeKnGl4ZCJD4cHwFDSgyU6TDDuoWXZ7
        KZ4wbrs+k0SKq20d1k4CVU096+QItGvpcxnA4CGso1MwUTAdBgNVHQ4EFgQUnMoc
        CzUkZWsbboHg/PZq3SNk2yEwHwYDVR0jBBgwFoAUnMocCzUkZWsbboHg/PZq3SNk
        2yEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAwKYR97uRq8f+
        5j6Easne5qp/KGhYtFaVdKl9eFFptE8CIQDe7ZMXlpHjJ8oCXavrhHmY5EHGQQ65
        tJUxdMaOakI77Q==
        -----END CERTIFICATE-----
        """
    static let untilAugust2081 = """
        -----BEGIN CERTIFICATE-----
        MIIBhzCCAS2gAwIBAgIUASVdvSuxhBdLyM3M2qqu8id9fjgwCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNd2F0Y2hib3gtdGVzdDAgFw0yNjExMjEyMTU4MDVaGA8yMDgx
        MDgyNDIxNTgwNVowGDEWMBQGA1UEAwwNd2F0Y2hib3gtdGVzdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABLzbGce4Mp1j3FGqbl4RaVaH1LGRfMBuFeNDyDtmO6A+
        GHoPzq5m0vDI05hzpSVWQeMuWRRzjhfZnhg6hh+0iyujUzBRMB0GA1UdDgQWBBQ6
        xEGHmKWhgRJl2HMTeMuw0oBATzAfBgNVHSMEGDAWgBQ6xEGHmKWhgRJl2HMTeMuw
        0oBATzAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQD7kY/gQm//
        ciHwp5GZttZBFw+YC1W7RDhMfjWxYz+ARwIgbOX5eUIvQnFhqrxqMHpu4khz6ChR
        talEwE94uGBu8O4=
        -----END CERTIFICATE-----
        """

    private func ends(_ text: String) throws -> [Int64] {
        try CertificateValidity.all(pem: Array(text.utf8)).map(\.end)
    }

    @Test func `both forms of a time are read`() throws {
        #expect(try ends(Self.untilNovember2036) == [2_110_658_285])
        #expect(try ends(Self.untilAugust2081) == [3_523_298_285])
        let both =
            "a comment\n" + Self.untilAugust2081 + "\n" + Self.untilNovember2036.replacing("\n", with: "\r\n") + "\n"
        #expect(try ends(both) == [3_523_298_285, 2_110_658_285])
    }

    @Test func `a cut or changed certificate is not a crash`() throws {
        let lines = Self.untilAugust2081.split(separator: "\n").dropFirst().dropLast()
        let bytes = Array(try #require(Data(base64Encoded: lines.joined())))
        func pem(_ bytes: [UInt8]) -> String {
            let digits = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return "-----BEGIN CERTIFICATE-----\n\(digits)\n-----END CERTIFICATE-----\n"
        }
        for length in 0..<bytes.count {
            #expect(throws: CertificateValidity.Failure.self) { try ends(pem(Array(bytes.prefix(length)))) }
        }
        for index in bytes.indices {
            for value: UInt8 in [0x00, 0x7F, 0x80, 0x84, 0xFF] {
                var changed = bytes
                changed[index] = value
                _ = try? ends(pem(changed))
            }
        }
        let empty = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----"
        #expect(throws: CertificateValidity.Failure.damaged(1)) { try ends(empty) }
    }

    @Test func `a certificate is reported before it ends`() throws {
        let tree = try FixtureTree([
            "etc/ca.pem": Self.untilNovember2036, "etc/none.pem": "nothing",
            "etc/cut.pem": Self.untilNovember2036 + "\n" + Self.untilAugust2081.prefix(300),
            "etc/long.pem": String(repeating: "#\n", count: 1 << 19) + Self.untilNovember2036,
        ])
        let end: Int64 = 2_110_658_285
        func finding(_ path: String, _ now: Int64) -> Finding {
            DoctorCheck.certificate(path, tree.environment(), now: now)
        }
        #expect(finding("/etc/ca.pem", end - 90 * 86_400) == .ok("/etc/ca.pem 90 d"))
        #expect(finding("/etc/ca.pem", end - 3 * 86_400) == .warn("/etc/ca.pem ends in 3 days", .certificateExpires))
        #expect(finding("/etc/ca.pem", end + 86_400) == .fail("/etc/ca.pem has ended 1 day ago", .certificateExpires))
        #expect(finding("/etc/ca.pem", end - 20 * 365 * 86_400).code == .certificateRefused)
        for (name, why) in [
            ("none", "it holds no certificate in PEM"), ("cut", "certificate 2 in it is damaged"),
            ("long", "it is longer than 1024 KiB"),
        ] {
            #expect(finding("/etc/\(name).pem", end - 86_400).evidence == "/etc/\(name).pem: \(why)")
            #expect(finding("/etc/\(name).pem", end - 86_400).state == .fail)
        }
        #expect(finding("/etc/missing.pem", 0).code == .unreadableFile)
    }

    @Test func `every certificate file that something on the box reads is looked at`() async throws {
        let tree = try FixtureTree()
        func settings(_ isOn: Bool) -> String {
            """
            version = 1
            relay.main = { url = "rtmps://a.example.net/live", ca_file = "/etc/relay.pem" }
            kas = { url = "https://b.example.net", ca_file = "/etc/kas.pem" }
            hook.home = { url = "https://c.example.net/x", ca_file = "/etc/hook.pem", enabled = \(isOn) }
            [relay_server]
            enabled = \(isOn)
            tls_certificate = "/etc/relay-server.pem"
            tls_key = "/etc/relay-server.key"
            forward = ["rtmps://d.example.net/live"]
            forward_ca_file = "/etc/forward.pem"
            [kas_server]
            enabled = \(isOn)
            tls_certificate = "/etc/kas-server.pem"
            tls_key = "/etc/kas-server.key"

            """
        }
        let (always, whenOn) = (["relay", "kas"], ["hook", "relay-server", "forward", "kas-server"])
        for isOn in [true, false] {
            try tree.write("etc/watchbox/watchbox.toml", settings(isOn))
            // None of them is there, so each that is looked at is reported.
            let evidence = try await tree.finding("certificates").evidence
            for name in always { #expect(evidence.contains("/etc/\(name).pem:"), "\(evidence)") }
            for name in whenOn { #expect(evidence.contains("/etc/\(name).pem:") == isOn, "\(name): \(evidence)") }
        }
    }
}
