import ArgumentParser
import Console
import Cryptography
import Foundation
import Glibc
import KeyAccess
import NanoTDF
import TDF
import TestSupport
import Testing
import Wire

@testable import Archive
@testable import BoxCommands

/// `watchboxctl archive export` that ended before its time, and is run again: the film is the one of an export that was not interrupted.
@Suite(.timeLimit(.minutes(15)), .ownThread) final class ArchiveResumeTests: ArchiveResumeStage {
    @Test(arguments: 1..<4) func `it goes on behind any archive, and asks for no key of those before`(count: Int)
        async throws
    {
        try record(stage, refusedFrom: count)
        let refused = try await export()
        #expect(refused.status == ExitStatus.notPermitted.rawValue)
        #expect(
            refused.errors.contains("or ask it: --kas-token-file; then run it again: it goes on after the first "),
            "\(refused.errors)")
        #expect(try stage.files == Self.left)
        for name in [Self.part, Self.journal] {
            let mode = try FileManager.default.attributesOfItem(atPath: stage.path(name))[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        // The other key opens none of those that are in the film.
        let alone = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--output", "alone.mp4"], key: "other.pem")
        #expect(alone.status == ExitStatus.notPermitted.rawValue)
        try await expectWhole(
            resumedAt: Self.lengths[count - 1],
            says: "film.mp4.part: it goes on after the first \(Int(Self.lengths[count - 1])).0 s")
    }

    @Test func `without an archive that is whole in it nothing is left`() async throws {
        try record(stage, refusedFrom: 0)
        let refused = try await export()
        #expect(refused.status == ExitStatus.notPermitted.rawValue && !refused.errors.contains("run it again"))
        #expect(try stage.files == ["kas.key.pem", "other.pem", "recordings"])
    }

    @Test func `a KAS that is away or refuses takes nothing, and is asked for what is missing alone`() async throws {
        try await interrupted()
        try stage.write(Array("token".utf8), "token")
        func ask(_ port: UInt16) async throws -> ProgramRun {
            try await stage.run([
                "export", "front", "--from", "2026-11-28T10:00:01", "--to", "2026-11-28T10:01", "--kas",
                "http://127.0.0.1:\(port)/kas", "--kas-token-file", "token", "--output", "film.mp4", "--directory",
                "recordings",
            ])
        }
        // Nobody listens there.
        let (deaf, port) = deafPort()
        let away = try await ask(port)
        close(deaf)
        #expect(away.status == ExitStatus.remoteUnreachable.rawValue)
        #expect(away.errors.contains("run it again: it goes on after the first 5.0 s"), "\(away.errors)")
        let service = RefusingService(status: 403)
        let refused = try await ask(service.port)
        #expect(refused.status == ExitStatus.notPermitted.rawValue && service.requests == 1)
        try FileManager.default.removeItem(atPath: stage.path("token"))
        #expect(try stage.files == Self.left)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s")
    }

    @Test func `killed while it waits for a key, it goes on`() async throws {
        try await interrupted(after: 3)
        try stage.write(Array("token".utf8), "token")
        let (listener, port) = deafPort()
        defer { close(listener) }
        #expect(listen(listener, 1) == 0)
        let process = Process()
        process.executableURL = URL(filePath: BuiltProgram.path("watchboxctl"))
        process.arguments = [
            "archive", "export", "front", "--from", "2026-11-28T10:00:01", "--to", "2026-11-28T10:01", "--kas",
            "http://127.0.0.1:\(port)/kas", "--kas-token-file", "token", "--output", "film.mp4", "--directory",
            "recordings",
        ]
        process.currentDirectoryURL = URL(filePath: stage.directory)
        process.environment = ProcessInfo.processInfo.environment.merging(["TZ": "CET-1"]) { $1 }
        process.standardError = FileHandle.nullDevice
        try process.run()
        let connection = accept(listener, nil, nil)
        // Meanwhile nobody else writes it.
        let second = try await export()
        #expect(second.status == ExitStatus.conflict.rawValue)
        #expect(second.errors.contains("another export is writing it, in film.mp4.part"), "\(second.errors)")
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        close(connection)
        try FileManager.default.removeItem(atPath: stage.path("token"))
        #expect(try stage.files == Self.left)
        try await expectWhole(resumedAt: 9, says: "it goes on after the first 9.0 s")
    }

    @Test func `what a power cut leaves behind the last commit does not matter`() async throws {
        try await interrupted()
        let (media, journal) = (try stage.bytes(Self.part), try stage.bytes(Self.journal))
        // Longer than the whole film.
        try stage.write(media + [UInt8](repeating: 0xA5, count: 4 << 20), Self.part)
        try stage.write(journal + journal.suffix(5000).dropLast(7), Self.journal)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s")
    }

    @Test func `of a journal that was cut what is whole counts`() async throws {
        try await interrupted()
        let journal = try stage.bytes(Self.journal)
        try stage.write(journal.dropLast(1), Self.journal)
        let outcome = try await export()
        // The key for the second archive is there.
        #expect(outcome.errors.contains("it goes on after the first 2.0 s"), "\(outcome.errors)")
        #expect(outcome.errors.contains("run it again: it goes on after the first 5.0 s"), "\(outcome.errors)")
        #expect(try stage.bytes(Self.journal) == journal)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s")
    }

    @Test func `interrupted within an archive, it begins with that one`() async throws {
        try record(stage)
        let failure = try await cancelled(after: 2)
        #expect(failure.status == .abortedByUser)
        #expect(failure.hint == "run it again with --from X: it goes on after the first 5.0 s")
        #expect(try stage.files == Self.left)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s", key: "kas.key.pem")
    }

    @Test func `interrupted again and again, it is the same film`() async throws {
        try record(stage)
        for count in 1..<4 { _ = try await cancelled(after: count) }
        try await expectWhole(resumedAt: 9, says: "it goes on after the first 9.0 s", key: "kas.key.pem")
    }

    @Test func `what was taken stays, whatever of it is deleted, and however often it is interrupted`() async throws {
        try record(stage)
        _ = try await cancelled(after: 1)
        func delete(_ index: Int) throws {
            try FileManager.default.removeItem(atPath: stage.path("recordings/front/\(stage.recordings[index])"))
        }
        try delete(0)
        let again = try await cancelled(after: 2)
        #expect(again.hint.contains("it goes on after the first 9.0 s"), "\(again.hint)")
        // Of what is left the last goes, and nothing is behind it.
        _ = try await cancelled(after: 3)
        try delete(2)
        try await expectWhole(
            resumedAt: whole().document.seconds, says: "film.mp4.part: it goes on after the first", key: "kas.key.pem")
    }

    @Test func `a recording that is deleted before its turn takes nothing along`() async throws {
        try record(stage)
        let task = try task()
        let (export, _) = try FilmResumption.export(task, to: stage.path("film.mp4")) { (_) throws(ArchiveError) in }
        let keys = try ArchiveKeySource.own(RSAPrivateKey(pem: stage.bytes("kas.key.pem")), file: "kas.key.pem")
        try FileManager.default.removeItem(atPath: stage.path("recordings/front/\(stage.recordings[2])"))
        let work = ArchiveWork("exporting", total: 0)
        defer { work.end() }
        do {
            _ = try await task.copy(to: export, "film.mp4", keys, work)
            Issue.record("it was deleted")
        } catch let failure as CommandFailure {
            let failure = export.interrupted(by: failure, "")
            #expect(failure.why == "that was deleted meanwhile")
            #expect(failure.hint == "run it again: it goes on after the first 5.0 s")
        }
        #expect(try stage.files == Self.left)
    }

    @Test func `a film that cannot be written while it is given again is not given up`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let before = try (stage.bytes(Self.part).count, stage.bytes(Self.journal))
        let shell = String(repeating: "../", count: 32) + "bin/sh"
        // Its header cannot be written again: a file may have no size at all.
        let full = try await ProgramRun(
            shell,
            [
                "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", BuiltProgram.path("watchboxctl"), "archive",
                "export", "front", "--from", "2026-11-28T10:00:01", "--to", "2026-11-28T10:01", "--key", "kas.key.pem",
                "--output", "film.mp4", "--directory", "recordings",
            ], in: stage.directory, variables: ["TZ": "CET-1"])
        #expect(full.status == ExitStatus.failed.rawValue, "\(full.errors)")
        #expect(try stage.bytes(Self.part).count == before.0 && stage.bytes(Self.journal) == before.1)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s", key: "kas.key.pem")
    }

    @Test func `recordings that are pinned, or make room meanwhile, stay in it`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let names = try stage.recordings
        try FileManager.default.removeItem(atPath: stage.path("recordings/front/\(names[0])"))
        let pinned = stage.path("recordings/front/\(names[1].replacing(".tdf", with: "-pinned.tdf"))")
        try FileManager.default.moveItem(atPath: stage.path("recordings/front/\(names[1])"), toPath: pinned)
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s", key: "kas.key.pem")
    }

    @Test func `the recordings of a binder are gone on with as well`() async throws {
        try record(stage, refusedFrom: 2)
        let bound = try await stage.run([
            "create", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T10:01", "--output", "front.zip",
            "--directory", "recordings",
        ])
        #expect(bound.status == 0, "\(bound.errors)")
        func export(_ key: String) async throws -> ProgramRun {
            try await stage.run([
                "export", "front.zip", "--from", "1", "--to", "60", "--key", key, "--output", "film.mp4",
            ])
        }
        let refused = try await export("kas.key.pem")
        #expect(refused.errors.contains("run it again: it goes on after the first 5.0 s"), "\(refused.errors)")
        let outcome = try await export("other.pem")
        #expect(outcome.status == 0 && outcome.errors.contains("it goes on after the first 5.0 s"), "\(outcome.errors)")
        #expect(outcome.output.contains("from 4 archives"), "\(outcome.output)")
        let whole = try await whole()
        #expect(try stage.bytes("film.mp4") == whole.bytes)
        #expect(try !stage.files.contains { $0.contains(".part") })
    }

    @Test func `what is being recorded is done again when it has ended`() async throws {
        for from in [Int64(0), 3] {
            try stage.record(
                UInt64(from / 3 + 1), at: Self.begin + from * 1000, RecordingStage.part(Self.film, from, from + 3))
        }
        try stage.write(Array(try Self.other.privateKeyPEM().utf8), "other.pem")
        try stage.beginRecording()
        let growing = try GrowingArchive(
            RecordingName.stem(3), in: stage.path("recordings/front"),
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r1",
                publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM()),
            policy: PlaintextPolicy(stream: "front"), begin: Self.begin + 6000)
        let parts = try stage.fragments(RecordingStage.part(Self.film, 6, 9))
        for part in parts.prefix(2) { try growing.append(part[...], milliseconds: 1000) }
        _ = try await cancelled(after: 3)
        #expect(try ends().count == 3 && stage.bytes(Self.part).count == ends()[2])
        for part in parts.dropFirst(2) { try growing.append(part[...], milliseconds: 1000) }
        _ = try growing.end { RecordingName(sequence: 3, begin: $0, duration: $1).fileName }
        let outcome = try await export(["--json"])
        #expect(try ArchiveExportTests.document(outcome).resumedAt == 5, "\(outcome.errors)")
        #expect(
            try RecordingStage.events(of: stage.path("film.mp4")).videoData == Array(Self.film.videoData[25..<225]))
    }

    @Test func `times that are others each time are told as they were`() throws {
        for (from, to, isRelative) in [
            ("-10m", "now", true), ("2026-11-28T10:00", " NOW", true), ("10:00", "yesterday 10:00", true),
            ("2026-11-28T10:00", "2026-11-28 11:00", false), ("1", "60.5", false),
        ] {
            let times = try RecordingTimeOptions.parse(["--from", from, "--to", to])
            #expect(times.isRelative == isRelative)
        }
        #expect(
            RecordingRange(from: Self.begin, to: Self.begin + 500).options
                == "--from 2026-11-28T09:00:00.000Z --to 2026-11-28T09:00:00.500Z")
        #expect(RecordingRange(from: .min, to: Self.begin).options == "--to 2026-11-28T09:00:00.000Z")
        #expect(RecordingRange.all.options == "")
    }

    /// In the middle of the media, and where they have room, but not what is at the end.
    @Test(arguments: [false, true]) func `a full disk takes nothing of what was committed`(atEnd: Bool) async throws {
        try record(stage)
        let whole = try await whole()
        let blocks = atEnd ? (whole.bytes.count - 2048) / 512 : whole.bytes.count / 2 / 512
        let shell = String(repeating: "../", count: 32) + "bin/sh"
        let full = try await ProgramRun(
            shell,
            [
                "-c", "trap '' XFSZ; ulimit -f \(blocks); exec \"$@\"", "sh", BuiltProgram.path("watchboxctl"),
                "archive",
                "export", "front", "--from", "2026-11-28T10:00:01", "--to", "2026-11-28T10:01", "--key", "kas.key.pem",
                "--output", "film.mp4", "--directory", "recordings",
            ], in: stage.directory, variables: ["TZ": "CET-1"])
        #expect(full.status == ExitStatus.failed.rawValue)
        #expect(
            full.errors.contains(
                "make room there, or see what is wrong with the disk; then run it again: it goes on after"),
            "\(full.errors)")
        #expect(try stage.files == Self.left)
        let length = atEnd ? whole.document.seconds : 5
        try await expectWhole(resumedAt: length, says: "it goes on after the first", key: "kas.key.pem")
    }
}
