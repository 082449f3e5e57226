import CameraModel
import CameraUnit
import ErrorCatalog
import FoundationEssentials
import KeyAccessClient
import Systemd
import Testing

@Suite struct CredentialReferencesTests {
    private static func configuration(_ reference: String) -> CameraConfiguration {
        CameraConfiguration(
            id: "front", source: .testPattern(.init()), relay: .init(urlFile: reference),
            kas: KASConfiguration(url: "https://kas.example.net/kas", token: .file("credential:kas-token")))
    }

    private static func withDirectory(_ names: [String], _ body: (CredentialDirectory, String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for name in names { try Data("x".utf8).write(to: directory.appending(path: name)) }
        try body(CredentialDirectory(path: directory.path), directory.path)
    }

    @Test func `the camera's own secret comes before the box's`() throws {
        try Self.withDirectory(["camera-front_relay", "box_relay", "plain-box_kas-token"]) { directory, path in
            let resolved = try CredentialReferences.resolve(Self.configuration("credential:relay"), in: directory)
            #expect(resolved.relay.urlFile == "\(path)/camera-front_relay")
            #expect(resolved.kas.token == .file("\(path)/plain-box_kas-token"))
        }
    }

    @Test func `a path stays a path`() throws {
        try Self.withDirectory(["box_kas-token"]) { directory, _ in
            let resolved = try CredentialReferences.resolve(Self.configuration("/etc/relay.url"), in: directory)
            #expect(resolved.relay.urlFile == "/etc/relay.url")
        }
    }

    @Test func `a missing secret is named, and so is what to do`() throws {
        try Self.withDirectory(["camera-back_relay", "box_kas-token"]) { directory, _ in
            let error = #expect(throws: CodedError.self) {
                try CredentialReferences.resolve(Self.configuration("credential:relay"), in: directory)
            }
            #expect(error?.code == .missingSecret)
            #expect(error?.what.contains("\"relay\"") == true)
        }
    }
}
