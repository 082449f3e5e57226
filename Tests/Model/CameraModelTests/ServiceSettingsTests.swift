import FoundationEssentials
import Testing

@testable import CameraModel

struct ServiceSettingsTests {
    private func read<Settings: Codable>(_ written: Settings) throws -> Settings {
        try JSONDecoder().decode(Settings.self, from: JSONEncoder().encode(written))
    }

    @Test func `health reads what control writes for it`() throws {
        let full = HealthServiceSettings(
            reboot: false, metricsListen: "127.0.0.1:9464",
            relays: [.init(name: "main", host: "live.example.net", port: 443, tls: true)],
            kas: .init(name: "kas", host: "fd00::1", port: 9443, tls: false),
            cameras: [.init(id: "front", relay: "main"), .init(id: "yard")], configurationProblem: "WB-1005 …")
        #expect(try read(full) == full)
        #expect(try read(HealthServiceSettings()) == HealthServiceSettings())
    }

    /// Control and health are replaced one after the other.
    @Test func `health reads what control of the version before wrote, and what older ones did`() throws {
        let settings = try JSONDecoder().decode(
            HealthServiceSettings.self,
            from: Data(
                """
                {"cameras":[{"id":"front","relay":"main","isActive":true,"usbPort":"1-1.2"}],"reboot":true,
                "relays":[{"host":"live.example.net","name":"main","port":443,"tls":true}],"thresholds":{"ivUsed":0.5}}
                """.utf8))
        #expect(
            settings
                == HealthServiceSettings(
                    relays: [.init(name: "main", host: "live.example.net", port: 443, tls: true)],
                    cameras: [.init(id: "front", relay: "main")]))
    }

    @Test func `health is reported for at most 64 cameras and 64 relays`() throws {
        func settings(cameras: Int, relays: Int) -> HealthServiceSettings {
            HealthServiceSettings(
                relays: (0..<relays).map { .init(name: "r\($0)", host: "h", port: 1, tls: false) },
                cameras: (0..<cameras).map { .init(id: "c\($0)") })
        }
        #expect(try read(settings(cameras: 64, relays: 64)).cameras.count == 64)
        #expect(throws: DecodingError.self) { try read(settings(cameras: 65, relays: 0)) }
        #expect(throws: DecodingError.self) { try read(settings(cameras: 0, relays: 65)) }
    }

    @Test func `the relay reads what control writes for it`() throws {
        let full = RelayServiceSettings(
            host: "0.0.0.0", port: 443, tlsCertificateFile: "/c", tlsKeyFile: "/k", publishKeysFile: "/p", isOpen: true,
            stateDirectory: RelayServiceSettings.stateDirectory, playKeysFile: "/l", playLinkSecretFile: "/s",
            allow: ["192.0.2.0/24"], deny: ["192.0.2.7/32"], graceSeconds: 2.5,
            api: .init(host: "127.0.0.1", port: 9, tokenFile: "/t"), forward: ["rtmps://a/b"], forwardFile: "/f",
            forwardCAFile: "/a")
        #expect(try read(full) == full)
        let small = RelayServiceSettings(host: "127.0.0.1", port: 0)
        #expect(try read(small) == small)
    }
}
