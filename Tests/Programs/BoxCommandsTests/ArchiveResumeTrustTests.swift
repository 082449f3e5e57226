import Console
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Archive
@testable import BoxCommands

/// What an interrupted export left is gone on with where it is what was written, and is this export's.
@Suite(.timeLimit(.minutes(15)), .ownThread) final class ArchiveResumeTrustTests: ArchiveResumeStage {
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
            #expect(other.errors.contains("film.mp4.part is what is there of another film"), "\(other.errors)")
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
}
