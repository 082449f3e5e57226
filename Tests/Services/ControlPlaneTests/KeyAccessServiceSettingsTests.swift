import ControlAPI
import KeyAccessServer
import Testing

@testable import ControlPlane

struct KeyAccessServiceSettingsTests {
    /// Two types of one file: an operator may write one with much more in it.
    @Test func `the KAS reads what control writes for it`() throws {
        let written = KeyAccessServiceSettings(
            stateDirectory: "/state", host: "192.0.2.1", port: 9443,
            tls: .init(certificateChainFile: "/chain", privateKeyFile: "/key"), keyEpochSeconds: 7200,
            keyOverlapSeconds: 3 * 86_400)
        var expected = KeyAccessServerConfiguration(stateDirectory: "/state")
        expected.host = "192.0.2.1"
        expected.port = 9443
        expected.tls = .init(certificateChainFile: "/chain", privateKeyFile: "/key")
        expected.keyEpochSeconds = 7200
        expected.keyOverlapSeconds = 3 * 86_400
        #expect(
            try JSONDocument.decode(KeyAccessServerConfiguration.self, from: JSONDocument.bytes(written)) == expected)
    }
}
