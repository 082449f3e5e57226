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
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveResumeTests {
    private static let begin = ArchiveExportTests.begin
    private static let film = ArchiveExportTests.film
    /// What the archives behind a place are wrapped for: a KAS that refuses from there on.
    private static let other = try! RSAPrivateKey.generate(bits: 2048)
    private static let part = "film.mp4.part"
    private static let journal = "film.mp4.part.journal"
    private static let left = [part, journal, "kas.key.pem", "other.pem", "recordings"]
    private static let done = ["film.mp4", "kas.key.pem", "other.pem", "recordings"]

    private let stage = try! RecordingStage()

    /// Four archives of three seconds; before the third one nothing is recorded for 20 s.
    ///
    /// - Parameter refused: the first that the key does not open.
    private func record(_ stage: RecordingStage, refusedFrom refused: Int = 4) throws {
        for index in 0..<4 {
            let from = Int64(index) * 3
            try stage.record(
                UInt64(index + 1), at: Self.begin + from * 1000 + (index >= 2 ? 20_000 : 0),
                RecordingStage.part(Self.film, from, from + 3), for: index < refused ? RecordingStage.key : Self.other)
        }
        try stage.write(Array(try Self.other.privateKeyPEM().utf8), "other.pem")
    }

    private func export(
        _ more: [String] = [], key: String = "kas.key.pem", to: String = "2026-11-28T10:01"
    ) async throws -> ProgramRun {
        try await ArchiveExportTests.export(stage, "2026-11-28T10:00:01", to, more, key: key)
    }

    /// The film, and what is said of it, of an export that nobody interrupted.
    private func whole() async throws -> (bytes: [UInt8], document: ArchiveExportDocument) {
        let stage = try RecordingStage()
        try record(stage)
        let outcome = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00:01", "2026-11-28T10:01", ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return (try stage.bytes("film.mp4"), try ArchiveExportTests.document(outcome))
    }

    /// Ends the work, and compares.
    private func expectWhole(
        resumedAt seconds: Double?, says line: String, key: String = "other.pem",
        _ place: SourceLocation = #_sourceLocation
    ) async throws {
        let outcome = try await export(["--json"], key: key)
        #expect(outcome.status == 0, "\(outcome.errors)", sourceLocation: place)
        let whole = try await whole()
        var document = try ArchiveExportTests.document(outcome)
        #expect(document.resumedAt == seconds, sourceLocation: place)
        document.resumedAt = nil
        #expect(document == whole.document, sourceLocation: place)
        #expect(try stage.bytes("film.mp4") == whole.bytes, sourceLocation: place)
        #expect(try stage.files == Self.done, sourceLocation: place)
        #expect(outcome.errors.contains(line), "\(outcome.errors)", sourceLocation: place)
    }

    /// Seconds of the film up to an archive.
    private static let lengths = [2.0, 5.0, 9.0]

    /// An export that was refused the key of the third archive.
    private func interrupted(after count: Int = 2) async throws {
        try record(stage, refusedFrom: count)
        let outcome = try await export()
        #expect(outcome.status == ExitStatus.notPermitted.rawValue, "\(outcome.errors)")
        #expect(try stage.files == Self.left)
    }

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

    /// Behind the first archive, in the second, and in what was not committed.
    @Test(arguments: zip([0, 1, 2], [nil, 2, 5] as [Double?]))
    func `a film that was changed is written again from there on`(block: Int, length: Double?) async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let ends = try ends()
        #expect(ends.count == 3 && ends[0] < 100)
        var media = try stage.bytes(Self.part)
        // What was not committed made room, and nothing promises what is there.
        #expect(media.count == ends[2])
        media += [1, 2, 3]
        media[ends[block] + 1] ^= 1
        try stage.write(media, Self.part)
        let said = [
            "film.mp4.part was changed: the film is begun anew",
            "film.mp4.part was changed behind the first 2.0 s: from there on the film is written anew",
            "it goes on after the first 5.0 s",
        ]
        try await expectWhole(resumedAt: length, says: said[block], key: "kas.key.pem")
    }

    @Test func `a film that has less than its journal says is written again`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let ends = try ends()
        try stage.write(Array(try stage.bytes(Self.part).prefix(ends[2] - 1)), Self.part)
        try await expectWhole(
            resumedAt: 2, says: "was changed behind the first 2.0 s: from there on", key: "kas.key.pem")
    }

    @Test func `what was given up is in the journal no more`() async throws {
        try record(stage)
        _ = try await cancelled(after: 3)
        var media = try stage.bytes(Self.part)
        media[try ends()[1] + 1] ^= 1
        try stage.write(media, Self.part)
        // Ends before the second archive is in the film again.
        _ = try await cancelled(after: 1)
        #expect(try ends().count == 2)
        try await expectWhole(
            resumedAt: 2, says: "film.mp4.part: it goes on after the first 2.0 s", key: "kas.key.pem")
    }

    @Test func `a film that is gone is begun anew`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        try FileManager.default.removeItem(atPath: stage.path(Self.part))
        try await expectWhole(resumedAt: nil, says: "was changed: the film is begun anew", key: "kas.key.pem")
    }

    @Test func `a journal that promises other frames than there are is not believed`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        // Whoever writes one can make its checksums as well.
        let bytes = try stage.bytes(Self.journal)
        let head = try #require(FilmJournal.readHead(bytes))
        let size = try FilmJournal.size(ofBlock: Array(bytes[FilmJournal.headSize...].prefix(4)))
        let first = Array(bytes[FilmJournal.headSize..<(FilmJournal.headSize + size)])
        let block = try FilmJournal.readBlock(first, after: head.chain).block
        var records: [UInt8] = []
        for record in block.records.dropLast() { #expect(record.append(to: &records)) }
        let made = FilmJournal.block(block.media, block.digest, records: records, after: head.chain)
        try stage.write(bytes.prefix(FilmJournal.headSize) + made.bytes, Self.journal)
        try await expectWhole(
            resumedAt: nil, says: "film.mp4.part is not what its journal says: the film is begun anew",
            key: "kas.key.pem")
    }

    @Test func `what is there of another film is left alone, and begun anew with --force`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let before = try (stage.bytes(Self.part), stage.bytes(Self.journal))
        let otherTime = try await export(to: "2026-11-28T10:00:30")
        #expect(otherTime.status == ExitStatus.usage.rawValue)
        #expect(
            otherTime.errors.contains(
                "film.mp4.part is what is there of a film of another time, --from 2026-11-28T09:00:01.000Z --to 2026-11-28T09:01:00.000Z"
            ) && otherTime.errors.contains("or begin anew with --force"), "\(otherTime.errors)")
        // The same numbers, names and times, of another camera and of another box.
        try FileManager.default.copyItem(
            atPath: stage.path("recordings/front"), toPath: stage.path("recordings/back"))
        try FileManager.default.copyItem(atPath: stage.path("recordings"), toPath: stage.path("copy"))
        for (camera, directory) in [("back", "recordings"), ("front", "copy")] {
            let other = try await stage.run([
                "export", camera, "--from", "2026-11-28T10:00:01", "--to", "2026-11-28T10:01", "--key", "kas.key.pem",
                "--output", "film.mp4", "--directory", directory,
            ])
            #expect(other.status == ExitStatus.usage.rawValue)
            #expect(other.errors.contains("of a film of other recordings"), "\(other.errors)")
        }
        #expect(try stage.bytes(Self.part) == before.0 && stage.bytes(Self.journal) == before.1)
        let forced = try await export(["--force"], to: "2026-11-28T10:00:30")
        #expect(forced.status == 0)
        #expect(forced.errors.contains("film.mp4.part was of another film: the film is begun anew"), "\(forced.errors)")
    }

    @Test func `a recording that was changed is taken again, and what is behind it`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        let second = try #require(try stage.recordings.dropFirst().first)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: stage.path("recordings/front/\(second)"))
        try await expectWhole(
            resumedAt: 2, says: "film.mp4.part was of other recordings behind the first 2.0 s: from there on",
            key: "kas.key.pem")
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

    @Test func `what is no export's is left alone`() async throws {
        try record(stage)
        func refused(_ name: String, _ place: SourceLocation = #_sourceLocation) async throws {
            let before = try stage.files
            let outcome = try await export()
            #expect(outcome.status == ExitStatus.usage.rawValue, sourceLocation: place)
            #expect(
                outcome.errors.contains("\(name) is in the way") && outcome.errors.contains("move it away"),
                "\(outcome.errors)",
                sourceLocation: place)
            #expect(try stage.files == before, sourceLocation: place)
        }
        try stage.write([1, 2, 3], Self.part)
        try await refused(Self.part)
        #expect(try stage.bytes(Self.part) == [1, 2, 3])
        // Also with a journal that says nothing of it.
        for content: [UInt8] in [[], [9, 9, 9, 9, 9], [0x57, 0x42, 0x46]] {
            try stage.write(content, Self.journal)
            chmod(stage.path(Self.journal), 0o600)
            try await refused(content.count == 5 ? Self.journal : Self.part)
            #expect(try stage.bytes(Self.journal) == content && stage.bytes(Self.part) == [1, 2, 3])
        }
        for name in [Self.part, Self.journal] { try FileManager.default.removeItem(atPath: stage.path(name)) }
        try FileManager.default.createSymbolicLink(atPath: stage.path(Self.journal), withDestinationPath: "kas.key.pem")
        try await refused(Self.journal)
        try FileManager.default.removeItem(atPath: stage.path(Self.journal))
        // And ours that others can write to.
        _ = try await cancelled(after: 2)
        for name in [Self.part, Self.journal] {
            #expect(chmod(stage.path(name), 0o620) == 0)
            try await refused(name)
            #expect(chmod(stage.path(name), 0o600) == 0)
        }
        try await expectWhole(resumedAt: 5, says: "it goes on after the first 5.0 s", key: "kas.key.pem")
    }

    @Test func `a film that got its name as the power failed is not touched`() async throws {
        try record(stage)
        _ = try await cancelled(after: 2)
        try FileManager.default.linkItem(atPath: stage.path(Self.part), toPath: stage.path("film.mp4"))
        let before = try stage.bytes("film.mp4")
        let there = try await export()
        #expect(there.status == ExitStatus.usage.rawValue && there.errors.contains("film.mp4 is there already"))
        try FileManager.default.moveItem(atPath: stage.path("film.mp4"), toPath: stage.path("finished"))
        let outcome = try await export()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try stage.bytes("finished") == before)
        let whole = try await whole()
        #expect(try stage.bytes("film.mp4") == whole.bytes)
    }

    @Test func `a damaged archive, or one that the film cannot go on with, takes all of it along`() async throws {
        try record(stage)
        let third = "recordings/front/\(try stage.recordings[2])"
        var bytes = try stage.bytes(third)
        bytes[bytes.count / 2] ^= 1
        try stage.write(bytes, third)
        let damaged = try await export()
        #expect(
            damaged.status == ExitStatus.failed.rawValue && !damaged.errors.contains("run it again"),
            "\(damaged.errors)")
        #expect(try stage.files == ["kas.key.pem", "other.pem", "recordings"])
    }

    @Test func `another codec takes all of it along as well`() async throws {
        try record(stage)
        let third = "recordings/front/\(try stage.recordings[2])"
        try FileManager.default.removeItem(atPath: stage.path(third))
        try stage.record(3, at: Self.begin + 26_000, try RecordingStage.pattern(seconds: 2, encoder: "libx265"))
        let changed = try await export()
        #expect(changed.status == ExitStatus.failed.rawValue && changed.errors.contains("the video goes on as H.265"))
        #expect(!changed.errors.contains("run it again"), "\(changed.errors)")
        #expect(try stage.files == ["kas.key.pem", "other.pem", "recordings"])
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

    // MARK: - In this process

    /// Where the media begin, and where each commit ends.
    private func ends() throws -> [Int] {
        let bytes = try stage.bytes(Self.journal)
        var chain = try #require(FilmJournal.readHead(bytes)).chain
        var rest = bytes[FilmJournal.headSize...]
        var ends: [Int] = []
        while !rest.isEmpty {
            let size = try FilmJournal.size(ofBlock: Array(rest.prefix(4)))
            let (block, next) = try FilmJournal.readBlock(Array(rest.prefix(size)), after: chain)
            if ends.isEmpty { ends = [Int(block.media.lowerBound)] }
            ends.append(Int(block.media.upperBound))
            chain = next
            rest = rest.dropFirst(size)
        }
        return ends
    }

    private func command() throws -> ArchiveExportCommand {
        let range = RecordingRange(from: Self.begin + 1000, to: Self.begin + 60_000)
        return try ArchiveExportCommand.parse([
            "front", "--from", CalendarTime.iso8601(range.from), "--to", CalendarTime.iso8601(range.to), "--output",
            stage.path("film.mp4"), "--directory", stage.path("recordings"), "--key", stage.path("kas.key.pem"),
        ])
    }

    private func task() throws -> FilmTask {
        let command = try command()
        return try FilmTask(
            camera: "front", command.times, command.place, .system, action: "exported", or: "nothing is written")
    }

    /// An export that somebody ends while it is at an archive, or behind all of them.
    private func cancelled(after count: Int) async throws -> CommandFailure {
        let output = stage.path("film.mp4")
        let task = try task()
        let keys = try command().key.source(what: "nothing is written")
        let (export, taken) = try FilmResumption.export(task, to: output) { (_) throws(ArchiveError) in }
        for (index, source) in task.sources.enumerated().dropFirst(taken.listed) {
            let reader = try source.reader()
            let opened = try await keys.open(reader, what: "nothing is written")
            var asked = 0
            let bytes = ArchiveBytes(opened, map: reader.map) { (_) throws(ArchiveError) in
                asked += 1
                if index >= count, asked > 160 { throw .cancelled }
            }
            do throws(CommandFailure) {
                try export.check(source, isOf: reader.policy?.stream)
                try export.add(source, bytes, task.range, policy: reader.policy)
            } catch {
                return export.interrupted(by: error, "--from X")
            }
        }
        return export.interrupted(by: CommandFailure(.cancelled, what: "nothing is written"), "--from X")
    }
}
