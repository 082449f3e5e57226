import CameraModel
import CameraUnit
import ErrorCatalog
import FoundationEssentials
import Settings
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

    @Test func `the password of a network camera may be missing: the camera says so`() throws {
        func passwordFile(_ reference: String?, in directory: CredentialDirectory) throws -> String? {
            var configuration = Self.configuration("/etc/relay.url")
            configuration.source = .network(.init(url: "rtsp://cam/1", user: "admin", passwordFile: reference))
            let resolved = try CredentialReferences.resolve(configuration, in: directory)
            guard case .network(let network) = resolved.source else { return "(no network camera)" }
            #expect(network.url == "rtsp://cam/1" && network.user == "admin")
            return network.passwordFile
        }
        try Self.withDirectory(["box_kas-token", "camera-front_password", "box_password"]) { (directory, path) throws in
            #expect(try passwordFile("credential:password", in: directory) == "\(path)/camera-front_password")
            #expect(try passwordFile("/etc/password", in: directory) == "/etc/password")
            #expect(try passwordFile("credential:other", in: directory) == nil)
            #expect(try passwordFile(nil, in: directory) == nil)
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
