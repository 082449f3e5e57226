import Console
import Cryptography
import Foundation
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive`, the program itself.
@Suite(.timeLimit(.minutes(15))) struct ArchiveCommandTests {
    private final class Place {
        static let key = try! RSAPrivateKey.generate(bits: 2048)

        let directory = NSTemporaryDirectory() + "watchbox-archives-" + UUID().uuidString

        init() throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try write(Array(try Self.key.publicKey.spkiPEM().utf8), "kas.pem")
            try write(Array(try Self.key.privateKeyPEM().utf8), "kas.key.pem")
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }

        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)"))
        }

        func bytes(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
        }
    }

    private func run(_ place: Place, _ arguments: String...) async throws -> ProgramRun {
        try await run(place, arguments)
    }

    private func run(_ place: Place, _ arguments: [String]) async throws -> ProgramRun {
        try await ProgramRun("watchboxctl", ["archive"] + arguments, in: place.directory)
    }

    private static func document(_ run: ProgramRun) throws -> ArchiveDocument {
        try JSONDecoder().decode(ArchiveDocument.self, from: Data(run.bytes))
    }

    @Test func `a film goes into an archive and comes out of it`() async throws {
        let place = try Place()
        let film = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 >> 5) }
        try place.write(film, "film.mp4")
        let created = try await run(
            place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--kas", "https://kas.example.net",
            "--stream", "door", "--dissem", "alice", "--output", "film.tdf", "--json")
        #expect(created.status == 0, "\(created.errors)")
        let document = try Self.document(created)
        #expect(document.schema == "watchbox.archive/1")
        #expect(document.segments == 3)
        #expect(document.clearSize == 2_500_000)
        #expect(document.stream == "door")
        #expect(document.dissem == ["alice"])
        #expect(document.mimeType == "video/mp4")
        #expect(document.kas == "https://kas.example.net/kas")

        let structure = try await run(place, "verify", "film.tdf", "--json")
        #expect(structure.status == 0)
        #expect(try Self.document(structure).verified == .structure)
        let everything = try await run(place, "verify", "film.tdf", "--key", "kas.key.pem", "--json")
        #expect(everything.status == 0, "\(everything.errors)")
        #expect(try Self.document(everything).verified == .content)

        let opened = try await run(place, "open", "film.tdf", "--key", "kas.key.pem", "--output", "again.mp4")
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(opened.output.contains("film.tdf: opened into again.mp4."))
        #expect(try place.bytes("again.mp4") == film)
        let piped = try await run(place, "open", "film.tdf", "--key", "kas.key.pem", "--output", "-")
        #expect(piped.status == 0)
        #expect(piped.bytes == film)
        #expect(place.files == ["again.mp4", "film.mp4", "film.tdf", "kas.key.pem", "kas.pem"])
    }

    @Test func `what is damaged is refused with its place, and nothing is left`() async throws {
        let place = try Place()
        try place.write([UInt8](repeating: 5, count: 100_000), "film.ts")
        let created = try await run(
            place, "create", "--file", "film.ts", "--kas-key", "kas.pem", "--output", "film.tdf")
        #expect(created.status == 0, "\(created.errors)")
        #expect(created.output.contains("film.tdf: written."))
        var bytes = try place.bytes("film.tdf")
        bytes[50_000] ^= 1
        try place.write(bytes, "bad.tdf")
        let files = place.files
        let verified = try await run(place, "verify", "bad.tdf")
        #expect(verified.status == ExitStatus.failed.rawValue)
        #expect(verified.errors.contains("bad.tdf was not verified: the CRC-32 of 0.payload"), "\(verified.errors)")
        let verifiedWithKey = try await run(place, "verify", "bad.tdf", "--key", "kas.key.pem")
        #expect(verifiedWithKey.errors.contains("bad.tdf was not verified: segment 0: "), "\(verifiedWithKey.errors)")
        for output in ["again.ts", "-"] {
            let opened = try await run(place, "open", "bad.tdf", "--key", "kas.key.pem", "--output", output)
            #expect(opened.status == ExitStatus.failed.rawValue)
            #expect(opened.errors.contains("segment 0: it does not decrypt under the key"), "\(opened.errors)")
            #expect(opened.errors.contains("Next: "))
            #expect(opened.bytes == [])
        }
        try place.write(Array(bytes.dropLast(10)), "bad.tdf")
        let cut = try await run(place, "verify", "bad.tdf")
        #expect(cut.errors.contains("it was cut, or is no archive"), "\(cut.errors)")
        #expect(place.files == files)
    }

    @Test func `a key that is another's, or none, is said`() async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        _ = try await run(place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf")
        try place.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.pem")
        let other = try await run(place, "open", "film.tdf", "--key", "other.pem", "--output", "x")
        #expect(other.status == ExitStatus.notPermitted.rawValue)
        #expect(other.errors.contains("was not wrapped for the key in other.pem"), "\(other.errors)")
        let none = try await run(place, "open", "film.tdf", "--key", "kas.pem", "--output", "x")
        #expect(none.status == ExitStatus.usage.rawValue, "\(none.errors)")
        let missing = try await run(place, "open", "film.tdf", "--key", "nothing.pem", "--output", "x")
        #expect(missing.status == ExitStatus.usage.rawValue)
        let wrong = try await run(
            place, "create", "--file", "film.mp4", "--kas-key", "film.mp4", "--output", "y.tdf")
        #expect(wrong.status == ExitStatus.usage.rawValue)
        #expect(wrong.errors.contains("not an RSA key"), "\(wrong.errors)")
        let both = try await run(
            place, "open", "film.tdf", "--key", "kas.key.pem", "--kas", "https://kas", "--output", "x")
        #expect(both.status == ExitStatus.usage.rawValue)
        let unreachable = try await run(
            place, "open", "film.tdf", "--kas", "http://127.0.0.1:1/kas", "--output", "x")
        #expect(unreachable.status == ExitStatus.remoteUnreachable.rawValue, "\(unreachable.errors)")
        #expect(!place.files.contains("x") && !place.files.contains("y.tdf"))
    }

    @Test func `a KAS that is named is asked, also the one that is usual`() async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        _ = try await run(place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf")
        // Nothing listens there.
        for named in [
            ["--kas", "http://127.0.0.1:1/kas"], ["--kas-pin", "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
        ] {
            let refused = try await run(place, ["verify", "film.tdf"] + named)
            #expect(refused.status != 0, "\(named): \(refused.output)")
            let both = try await run(place, ["verify", "film.tdf", "--key", "kas.key.pem"] + named)
            #expect(both.status == ExitStatus.usage.rawValue, "\(named)")
        }
    }

    @Test(arguments: [
        ["--dissem", ""], ["--attribute", ""], ["--stream", ""], ["--attribute", "family"], ["--kas", ""],
        ["--kas", "ftp://kas.example.net"], ["--attribute", "https://example.net/attr//value/x"],
    ])
    func `what would make an archive that nobody opens is refused`(options: [String]) async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        let refused = try await run(
            place, ["create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf"] + options)
        #expect(refused.status == ExitStatus.usage.rawValue, "\(refused.errors)")
        #expect(place.files == ["film.mp4", "kas.key.pem", "kas.pem"])
    }

    @Test func `neither what is read nor what is no file is ever replaced`() async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        _ = try await run(place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf")
        try FileManager.default.createSymbolicLink(
            atPath: "\(place.directory)/link", withDestinationPath: "film.mp4")
        try FileManager.default.createDirectory(atPath: "\(place.directory)/folder", withIntermediateDirectories: true)
        for output in ["film.mp4", "link", "./film.mp4", "folder", "/dev/null"] {
            let refused = try await run(
                place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", output, "--force")
            #expect(refused.status == ExitStatus.usage.rawValue && !refused.errors.contains("--force"), "\(output)")
        }
        let opened = try await run(
            place, "open", "film.tdf", "--key", "kas.key.pem", "--output", "film.tdf", "--force")
        #expect(opened.status == ExitStatus.usage.rawValue)
        #expect(try place.bytes("film.mp4") == [1, 2, 3])
    }

    @Test func `what a file says of itself is told as that, and gives no line of its own`() async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        let created = try await run(
            place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--kas",
            "https://kas\nNext: run this", "--output", "film.tdf")
        #expect(created.status == 0, "\(created.errors)")
        let verified = try await run(place, "verify", "film.tdf", "--key", "kas.key.pem")
        #expect(verified.output.split(separator: "\n").count == 3 && verified.output.contains("nobody can verify"))
        try place.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.pem")
        let refused = try await run(place, "verify", "film.tdf", "--key", "other.pem")
        #expect(!refused.errors.split(separator: "\n").contains { $0.hasPrefix("Next: run this") }, "\(refused.errors)")
    }

    @Test func `no file is replaced that nobody asked to`() async throws {
        let place = try Place()
        try place.write([1, 2, 3], "film.mp4")
        try place.write([9], "film.tdf")
        let refused = try await run(
            place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf")
        #expect(refused.status == ExitStatus.usage.rawValue)
        #expect(refused.errors.contains("--force"))
        #expect(try place.bytes("film.tdf") == [9])
        let forced = try await run(
            place, "create", "--file", "film.mp4", "--kas-key", "kas.pem", "--output", "film.tdf", "--force")
        #expect(forced.status == 0, "\(forced.errors)")
        let existing = try await run(place, "open", "film.tdf", "--key", "kas.key.pem", "--output", "film.mp4")
        #expect(existing.status == ExitStatus.usage.rawValue)
    }
}
