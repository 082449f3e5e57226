import Archive
import Console
import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import BoxCommands

/// Recordings that open with a recovery key, as somebody does it at whose place there is no KAS any more.
struct ArchiveRecoveryTests {
    private static let pair = try! RSAPrivateKey.generate(bits: 2048)
    private static let fingerprint = try! RecoveryKey(try! pair.publicKey.spkiPEM()).fingerprint

    /// A recording of four seconds, and both halves of its recovery key.
    private func stage() throws -> (stage: RecordingStage, recording: String) {
        let stage = try RecordingStage()
        try stage.write(Array(try Self.pair.privateKeyPEM().utf8), "recovery.pem")
        try stage.write(Array(try Self.pair.publicKey.spkiPEM().utf8), "recovery-public.pem")
        let recovery = try RecoveryKey(try Self.pair.publicKey.spkiPEM())
        let archive = try GrowingArchive(
            RecordingName.stem(1), in: stage.path("recordings/front"),
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM()),
            alternatives: [recovery.recipient], policy: PlaintextPolicy(stream: "front"),
            begin: ArchiveExportTests.begin)
        for part in try stage.fragments(RecordingStage.part(ArchiveExportTests.film, 0, 4)) {
            try archive.append(part[...], milliseconds: 1000)
        }
        let ending = try archive.end { RecordingName(sequence: 1, begin: $0, duration: $1).fileName }
        guard case .archive(let path, _) = ending else { throw CocoaError(.fileNoSuchFile) }
        return (stage, path)
    }

    @Test func `the private half alone gives the film, as the KAS's key does`() async throws {
        let (stage, recording) = try stage()
        for key in ["recovery.pem", "kas.key.pem"] {
            let outcome = try await ArchiveExportTests.export(
                stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--force"], key: key)
            #expect(outcome.status == 0, "\(key): \(outcome.errors)")
            let film = try RecordingStage.events(of: stage.path("film.mp4"))
            #expect(film.videoData == Array(ArchiveExportTests.film.videoData.prefix(100)))
        }
        let verified = try await stage.run(["verify", recording, "--key", "recovery.pem", "--json"])
        #expect(verified.status == 0, "\(verified.errors)")
        let document = try JSONDecoder().decode(ArchiveDocument.self, from: Data(verified.bytes))
        #expect(document.verified == .content && document.kas == "https://kas.example.net/kas" && document.kid == "r1")
        #expect(document.recoveryKey == Self.fingerprint)
        let text = try await stage.run(["verify", recording])
        #expect(
            text.output.contains("for https://kas.example.net/kas (key r1) and the recovery key \(Self.fingerprint)"))
    }

    @Test func `a binder of such recordings opens with it as well`() async throws {
        let (stage, _) = try stage()
        let bound = try await stage.run([
            "create", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T10:01", "--output", "front.zip",
            "--directory", "recordings",
        ])
        #expect(bound.status == 0, "\(bound.errors)")
        let film = try await stage.run(["export", "front.zip", "--key", "recovery.pem", "--output", "film.mp4"])
        #expect(film.status == 0, "\(film.errors)")
        #expect(
            try RecordingStage.events(of: stage.path("film.mp4")).videoData
                == Array(ArchiveExportTests.film.videoData.prefix(100)))
    }

    @Test func `a stranger's key opens nothing, and whose would is said`() async throws {
        let (stage, recording) = try stage()
        try stage.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.pem")
        let outcome = try await stage.run(["open", recording, "--key", "other.pem", "--output", "x.mp4"])
        #expect(outcome.status == ExitStatus.notPermitted.rawValue)
        #expect(outcome.errors.contains("https://kas.example.net/kas or the recovery key \(Self.fingerprint)"))
        #expect(try !stage.files.contains("x.mp4"))
    }

    @Test func `a KAS is asked with the entry that is for it`() {
        func object(_ url: String) -> KeyAccessObject {
            KeyAccessObject(type: "wrapped", url: url, protocol: "kas", wrappedKey: "")
        }
        let objects = [object(RecoveryKey.url), object("https://a/kas"), object("https://b/kas")]
        #expect(ArchiveKeySource.entry(for: "https://b/kas", of: objects) == 2)
        // By another name than the box knew it by.
        #expect(ArchiveKeySource.entry(for: "https://127.0.0.1/kas", of: objects) == 1)
        #expect(ArchiveKeySource.entry(for: "https://c/kas", of: [objects[0]]) == 0)
    }

    @Test func `a private key that was named by mistake goes nowhere`() throws {
        let (stage, _) = try stage()
        #expect(try RecordingOnCommand.key(stage.path("recovery-public.pem"), "front").fingerprint == Self.fingerprint)
        try stage.write(Array("no key".utf8), "text")
        for (file, words, hint) in [
            ("recovery.pem", "holds a private key", "keep that file off the box"),
            ("text", "is not a public key in PEM", "openssl pkey -in FILE -pubout"),
            ("none", "none: ", "permissions"),
        ] {
            do throws(CommandFailure) {
                _ = try RecordingOnCommand.key(stage.path(file), "front")
                Issue.record("\(file) was taken")
            } catch {
                #expect(error.why.contains(words) && error.hint.contains(hint), "\(error)")
                #expect(error.status == .usage)
            }
        }
    }
}
