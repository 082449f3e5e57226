import CameraModel
import Cryptography
import Settings
import TDFCryptography
import TestSupport

@testable import BoxConfiguration

/// Valid settings, each key with a value that its definition allows.
struct RandomSettings {
    /// An RSA key takes a while to make.
    static let recoveryKey = try! RecoveryKey(try! RSAPrivateKey.generate(bits: 2048).publicKey.spkiPEM())

    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    private mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func box() -> BoxSettings {
        var box = BoxSettings()
        if pick(0...1) == 0 { box.name = text(limit: 64) }
        box.previews = pick(0...1) == 0
        let relays = ["main", "spare-1", "a"].prefix(pick(1...3))
        for name in relays { box.relays[name] = RelaySettings(values: values(KeyTable.relay, always: ["url"])) }
        if pick(0...3) > 0 { box.kas = KeyAccessSettings(values: values(KeyTable.keyAccess)) }
        for number in 0..<pick(0...5) {
            var given = values(KeyTable.camera)
            given["relay"] = .string(relays.randomElement(using: &generator)!)
            // What the camera encodes is passed through: none of these can be had of it.
            if given["pixel_format"] == .string("h264") {
                for key in ["encoder", "rotate", "flip", "masks", "overlay"] { given[key] = nil }
            }
            if case .string(let source)? = given["source"], source.hasPrefix("v4l2:") {} else { given["masks"] = nil }
            if given["stream"] != nil { given["stream"] = .string("Stream_\(number).x") }
            box.cameras["camera-\(number)"] = CameraSettings(values: given)
        }
        for name in ["phone", "home-1"].prefix(pick(0...2)) {
            var given = values(KeyTable.hook, always: ["url"])
            given["cameras"] = .strings(Array(box.cameras.keys.sorted().prefix(pick(0...2))))
            for (key, prefix) in [("secret", "hook-"), ("token_secret", "bearer-")] where given[key] != nil {
                given[key] = .string(prefix + name)
            }
            box.hooks[name] = HookSettings(values: given)
        }
        box.health = HealthSettings(values: values(KeyTable.health))
        var server = values(KeyTable.relayServer, always: ["tls_certificate", "tls_key", "api_token"])
        server["forward"] = .strings((0..<pick(0...3)).map { "rtmps://relay-\($0).example.net/live" })
        box.relayServer = RelayServerSettings(values: server)
        box.kasServer = KeyAccessServerSettings(
            values: values(KeyTable.keyAccessServer, always: ["tls_certificate", "tls_key"]))
        return box
    }

    private mutating func values(_ object: ObjectDefinition, always: [String] = []) -> [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for key in object.keys where key.isRequired || always.contains(key.name) || pick(0...1) == 0 {
            values[key.name] = value(key.kind)
        }
        return values
    }

    private mutating func value(_ kind: KeyDefinition.Kind) -> SettingValue {
        switch kind {
        case .text(let limit): .string(text(limit: limit))
        case .identifier: .string("main")
        case .secretName: .string("secret-\(pick(0...9))")
        case .streamName: .string("stream")
        case .source:
            .string(
                [
                    "test:", "file:/srv/a \"b\" \\ ü.mp4", "rtsp://cam/1?a=b&c='\"%20",
                    "onvif://[fe80::1%25eth0]:8000/x",
                    "v4l2:/dev/v4l/by-id/c-\(pick(0...1 << 40))",
                ].randomElement(using: &generator)!)
        case .relayURL: .string("rtmps://relay-\(pick(0...9)).example.net:\(pick(1...65_535))/live")
        case .hookURL: .string("https://hook-\(pick(0...9)).example.net/a/b")
        case .keyAccessURL: .string("https://kas-\(pick(0...9)).example.net/kas")
        case .listenAddress: .string("[::]:\(pick(1...65_535))")
        case .path: .string("/etc/watch box/\(pick(0...9))'\".pem")
        case .size: .string("\(pick(32...3840) * 2)x\(pick(32...3840) * 2)")
        case .choice(let choices): .string(choices.randomElement(using: &generator)!)
        case .integer(let range): .integer(Int64.random(in: range, using: &generator))
        case .real(let range): .real(Double.random(in: range, using: &generator))
        case .boolean: .boolean(Bool.random(using: &generator))
        case .numbers(let numbers): .integer(Int64(numbers.randomElement(using: &generator)!))
        case .choices(let choices):
            .strings(choices.shuffled(using: &generator).prefix(pick(0...choices.count)).map { $0 })
        case .masks: .strings((0..<pick(0...3)).map { _ in mask().text })
        case .controls:
            .strings((0..<pick(0...3)).map { ControlSetting(name: "c_\($0)", value: pick(.min...(.max))).text })
        case .networks: .strings((0..<pick(0...3)).map { "10.\($0).0.0/\(pick(16...32))" })
        case .hosts: .strings((0..<pick(0...3)).map { "relay-\($0).example.net" + (pick(0...1) == 0 ? "" : ":1936") })
        case .weekSpans: .strings((0..<pick(0...3)).map { "mon-fri 1\($0):00-0\($0):30" })
        case .host: .string("media-\(pick(0...9)).example.net")
        case .certificatePin: .string("sha256//" + String(repeating: "Az09+/", count: 7) + "A=")
        case .rsaPublicKey: .string(Self.recoveryKey.text)
        case .macAddress: .string("00:11:22:aa:bb:0\(pick(0...9))")
        case .audioDevice: .string("hw:CARD=C920,DEV=\(pick(0...9))")
        case .strings(_, let limit): .strings((0..<pick(0...3)).map { _ in text(limit: min(max(limit / 32, 1), 40)) })
        }
    }

    private mutating func mask() -> CameraConfiguration.Device.Mask {
        let (x, y) = (Double.random(in: 0..<1, using: &generator), Double.random(in: 0..<1, using: &generator))
        return .init(x: x, y: y, width: (1 - x) * (pick(0...1) == 0 ? 1 : 1e-9), height: 1 - y)
    }

    private mutating func text(limit: Int) -> String {
        let characters: [Character] = [
            "a", "Z", " ", "\"", "'", "\\", "#", "=", "[", "{", "ü", "漢", "👨‍👩‍👧‍👦", "e\u{301}", "$", "%", "`", "🇩🇪",
        ]
        return "x" + String((0..<pick(0...limit - 1)).map { _ in characters.randomElement(using: &generator)! })
    }
}
