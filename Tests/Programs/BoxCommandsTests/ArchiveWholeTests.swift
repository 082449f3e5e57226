import Archive
import Console
import Cryptography
import Foundation
import KeyAccess
import TDF
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive create --profile f` and what opens it, the program itself.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveWholeTests {
    private static func stage() throws -> RecordingStage {
        let stage = try ArchiveExportTests.stage()
        try stage.write(Array(try RecordingStage.key.publicKey.spkiPEM().utf8), "kas.pem")
        return stage
    }

    private static func document(_ outcome: ProgramRun) throws -> ArchiveDocument {
        try JSONDecoder().decode(ArchiveDocument.self, from: Data(outcome.bytes))
    }

    @Test func `a film goes into one of profile F and comes out of it`() async throws {
        let stage = try Self.stage()
        let film = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 >> 5) }
        try stage.write(film, "film.mp4")
        let created = try await stage.run([
            "create", "--file", "film.mp4", "--profile", "f", "--kas-key", "kas.pem", "--kas",
            "https://kas.example.net", "--stream", "door", "--output", "film.tdf", "--json",
        ])
        #expect(created.status == 0, "\(created.errors)")
        let document = try Self.document(created)
        #expect(document.profile == "f" && document.hasMAC == true && document.segments == nil)
        #expect(document.stream == "door" && document.kas == "https://kas.example.net/kas")
        for (more, verified) in [([], ArchiveDocument.Verified.structure), (["--key", "kas.key.pem"], .content)] {
            let outcome = try await stage.run(["verify", "film.tdf", "--json"] + more)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try Self.document(outcome).verified == verified)
        }
        let opened = try await stage.run(["open", "film.tdf", "--key", "kas.key.pem", "--output", "again.mp4"])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(opened.output.contains("in one piece"), "\(opened.output)")
        #expect(try stage.bytes("again.mp4") == film)
        let piped = try await stage.run(["open", "film.tdf", "--key", "kas.key.pem", "--output", "-"])
        #expect(piped.status == 0 && piped.bytes == film)
        let exported = try await stage.run([
            "export", "./film.tdf", "--key", "kas.key.pem", "--output", "x.mp4",
        ])
        #expect(exported.errors.contains("AES-128-CBC") && exported.errors.contains("take profile S"))

        var bytes = try stage.bytes("film.tdf")
        bytes[2_000_000] ^= 1
        try stage.write(bytes, "bad.tdf")
        for output in ["x.mp4", "-"] {
            let refused = try await stage.run([
                "open", "bad.tdf", "--key", "kas.key.pem", "--unauthenticated", "--output", output,
            ])
            #expect(refused.status == ExitStatus.failed.rawValue && refused.bytes == [])
            #expect(refused.errors.contains("the MAC does not verify"), "\(refused.errors)")
        }
        #expect(!(try stage.files.contains("x.mp4")))
    }

    @Test func `one without a MAC opens for who says so, and is told as that`() async throws {
        let stage = try Self.stage()
        try stage.write([UInt8](repeating: 7, count: 1000), "film.mp4")
        _ = try await stage.run([
            "create", "--file", "film.mp4", "--profile", "f", "--kas-key", "kas.pem", "--output", "film.tdf",
        ])
        // What other writers make has no such member: under another name it is passed over.
        let bytes = try stage.bytes("film.tdf")
        let text = String(decoding: bytes, as: Unicode.ASCII.self)
        #expect(text.contains("\"integrityInformation\""))
        try Self.repack(stage, "bare.tdf", "manifest['encryptionInformation'].pop('integrityInformation')")
        for command in [["open", "bare.tdf", "--output", "x.mp4"], ["verify", "bare.tdf"]] {
            let refused = try await stage.run(command + ["--key", "kas.key.pem"])
            #expect(refused.status == ExitStatus.failed.rawValue)
            #expect(refused.errors.contains("it has no MAC") && refused.errors.contains("--unauthenticated"))
        }
        let opened = try await stage.run([
            "open", "bare.tdf", "--key", "kas.key.pem", "--unauthenticated", "--output", "x.mp4",
        ])
        #expect(opened.status == 0, "\(opened.errors)")
        #expect(opened.output.contains("whether anybody changed it cannot be told"), "\(opened.output)")
        #expect(try stage.bytes("x.mp4") == [UInt8](repeating: 7, count: 1000))
    }

    /// What Python makes of `film.tdf` under a manifest that somebody changed.
    private static func repack(_ stage: RecordingStage, _ output: String, _ change: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import base64, json, sys, zipfile
            old = zipfile.ZipFile('film.tdf')
            manifest = json.loads(old.read('manifest.json'))
            exec(sys.argv[2])
            with zipfile.ZipFile(sys.argv[1], 'w') as new:
                new.writestr('0.payload', old.read('0.payload'))
                new.writestr('manifest.json', json.dumps(manifest))
            """,
            output, change,
        ]
        process.currentDirectoryURL = URL(filePath: stage.directory)
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `a policy that nothing binds is nobody's word, and is told as that`() async throws {
        let stage = try Self.stage()
        try stage.write([UInt8](repeating: 7, count: 1000), "film.mp4")
        _ = try await stage.run([
            "create", "--file", "film.mp4", "--profile", "f", "--kas-key", "kas.pem", "--stream", "door", "--output",
            "film.tdf",
        ])
        let unbound = "manifest['encryptionInformation']['keyAccess'][0].pop('policyBinding')"
        for change in [
            "\(unbound); manifest['encryptionInformation'].pop('policy')",
            "\(unbound); manifest['encryptionInformation']['policy'] = ''",
            """
            \(unbound)
            policy = base64.b64decode(manifest['encryptionInformation']['policy']).replace(b'door', b'yard')
            manifest['encryptionInformation']['policy'] = base64.b64encode(policy).decode()
            """,
        ] {
            try Self.repack(stage, "loose.tdf", change)
            for command in [["open", "loose.tdf", "--output", "x.mp4"], ["verify", "loose.tdf"]] {
                let refused = try await stage.run(command + ["--key", "kas.key.pem"])
                #expect(refused.status == ExitStatus.failed.rawValue, "\(refused.output)")
                #expect(refused.errors.contains("it has no policy binding"), "\(refused.errors)")
                #expect(refused.errors.contains("--unauthenticated"), "\(refused.errors)")
            }
            let open = [
                "open", "loose.tdf", "--key", "kas.key.pem", "--unauthenticated", "--force", "--output", "x.mp4",
            ]
            let opened = try await stage.run(open)
            #expect(opened.status == 0, "\(opened.errors)")
            #expect(opened.output.contains("whether anybody changed its policy cannot be told"), "\(opened.output)")
            #expect(try Self.document(try await stage.run(open + ["--json"])).verified == .structure)
            try FileManager.default.removeItem(atPath: stage.path("x.mp4"))
        }
        let whole = try await stage.run([
            "open", "film.tdf", "--key", "kas.key.pem", "--unauthenticated", "--output", "x.mp4", "--json",
        ])
        #expect(try Self.document(whole).verified == .content)
    }

    @Test func `what a camera recorded goes into one as well`() async throws {
        let stage = try Self.stage()
        let outcome = try await stage.run([
            "create", "front", "--from", "2026-11-28T10:00:05.700", "--to", "2026-11-28T10:00:09.100", "--directory",
            "recordings", "--profile", "f", "--key", "kas.key.pem", "--kas-key", "kas.pem", "--output", "span.tdf",
        ])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let opened = try await stage.run(["open", "span.tdf", "--key", "kas.key.pem", "--output", "span.mp4"])
        #expect(opened.status == 0, "\(opened.errors)")
        let span = try RecordingStage.events(of: stage.path("span.mp4"))
        #expect(span.videoData == Array(ArchiveExportTests.film.videoData[125..<228]))
        let archive = try CBCArchiveReader(stage.path("span.tdf"))
        #expect(archive.policy?.stream == "front")
    }
}
