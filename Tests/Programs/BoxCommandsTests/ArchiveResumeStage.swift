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

/// Four recordings of a camera, and exports of them that end before their time.
class ArchiveResumeStage {
    static let begin = ArchiveExportTests.begin
    static let film = ArchiveExportTests.film
    /// What the archives behind a place are wrapped for: a KAS that refuses from there on.
    static let other = try! RSAPrivateKey.generate(bits: 2048)
    static let part = "film.mp4.part"
    static let journal = "film.mp4.part.journal"
    static let left = [part, journal, "kas.key.pem", "other.pem", "recordings"]
    static let done = ["film.mp4", "kas.key.pem", "other.pem", "recordings"]

    let stage = try! RecordingStage()

    /// Four archives of three seconds; before the third one nothing is recorded for 20 s.
    ///
    /// - Parameter refused: the first that the key does not open.
    func record(_ stage: RecordingStage, refusedFrom refused: Int = 4) throws {
        for index in 0..<4 {
            let from = Int64(index) * 3
            try stage.record(
                UInt64(index + 1), at: Self.begin + from * 1000 + (index >= 2 ? 20_000 : 0),
                RecordingStage.part(Self.film, from, from + 3), for: index < refused ? RecordingStage.key : Self.other)
        }
        try stage.write(Array(try Self.other.privateKeyPEM().utf8), "other.pem")
    }

    func export(
        _ more: [String] = [], key: String = "kas.key.pem", to: String = "2026-11-28T10:01"
    ) async throws -> ProgramRun {
        try await ArchiveExportTests.export(stage, "2026-11-28T10:00:01", to, more, key: key)
    }

    /// The film, and what is said of it, of an export that nobody interrupted.
    func whole() async throws -> (bytes: [UInt8], document: ArchiveExportDocument) {
        let stage = try RecordingStage()
        try record(stage)
        let outcome = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00:01", "2026-11-28T10:01", ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return (try stage.bytes("film.mp4"), try ArchiveExportTests.document(outcome))
    }

    /// Ends the work, and compares.
    func expectWhole(
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
    static let lengths = [2.0, 5.0, 9.0]

    /// An export that was refused the key of the third archive.
    func interrupted(after count: Int = 2) async throws {
        try record(stage, refusedFrom: count)
        let outcome = try await export()
        #expect(outcome.status == ExitStatus.notPermitted.rawValue, "\(outcome.errors)")
        #expect(try stage.files == Self.left)
    }

    /// Where the media begin, and where each commit ends.
    func ends() throws -> [Int] {
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

    func command() throws -> ArchiveExportCommand {
        let range = RecordingRange(from: Self.begin + 1000, to: Self.begin + 60_000)
        return try ArchiveExportCommand.parse([
            "front", "--from", CalendarTime.iso8601(range.from), "--to", CalendarTime.iso8601(range.to), "--output",
            stage.path("film.mp4"), "--directory", stage.path("recordings"), "--key", stage.path("kas.key.pem"),
        ])
    }

    func task() throws -> FilmTask {
        let command = try command()
        return try FilmTask(
            camera: "front", command.times, command.place, .system, action: "exported", or: "nothing is written")
    }

    /// An export that somebody ends while it is at an archive, or behind all of them.
    func cancelled(after count: Int) async throws -> CommandFailure {
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
