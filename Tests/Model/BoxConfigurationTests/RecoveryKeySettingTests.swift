import CameraModel
import Cryptography
import Settings
import TDFCryptography
import Testing

@testable import BoxConfiguration

/// The key that opens recordings beside the KAS, as people write it.
struct RecoveryKeySettingTests {
    private static let pair = try! RSAPrivateKey.generate(bits: 2048)

    private static func text(_ value: String) -> String {
        Samples.small
            + "camera.front.record = 'continuous'\ncamera.front.record_recovery_key = \"\"\"\n\(value)\"\"\"\n"
    }

    @Test func `PEM is kept as one line, reaches the camera, and is read again`() throws {
        let pem = try Self.pair.publicKey.spkiPEM()
        let key = try RecoveryKey(pem)
        for value in [pem, key.text] {
            let settings = Samples.settings(Self.text(value))
            #expect(settings.cameras["front"]?.recordRecoveryKey == key.text)
            #expect(settings.part("camera.front")?.settings["record_recovery_key"] == .string(key.text))
            let toml = settings.toml()
            #expect(toml.contains("\nrecord_recovery_key = \"\(key.text)\"\n") && Samples.settings(toml) == settings)
            let document = try settings.cameraConfiguration("front", stateDirectory: "/s")
            #expect(document.recording?.recoveryKey == key.text)
        }
        #expect(try Samples.settings(Samples.small).cameraConfiguration("front", stateDirectory: "/s").recording == nil)
    }

    @Test func `a private key is refused before it is kept, and never shown`() throws {
        let pem = try Self.pair.privateKeyPEM()
        let issues = Samples.read(Self.text(pem)).issues
        #expect(issues.map(\.key) == ["camera.front.record_recovery_key"])
        #expect(issues.first?.reason == "holds a private key")
        #expect(issues.first?.hint.contains("whoever has seen this one has the key") == true)
        let body = pem.split(separator: "\n")[1]
        #expect(!issues.contains { "\($0)".contains(body) })
    }

    @Test func `what is no such key is refused`() throws {
        let point = try ECPrivateKey.generate(.p256).publicKey.spkiPEM()
        for (value, reason) in [(point, "is not a key of RSA"), ("AAAA", "is not a public key in PEM")] {
            #expect(Samples.read(Self.text(value)).issues.map(\.reason) == [reason])
        }
        let number = Samples.read(Samples.small + "camera.front.record_recovery_key = 7\n").issues
        #expect(number.first?.reason == "is an integer, but must be a public key in quotes")
    }
}
