import Console
import Cryptography
import Foundation
import NanoTDF
import Synchronization
import TDF
import TestSupport
import Testing

@testable import Archive
@testable import BoxCommands

/// The commands on what is being recorded: the writer is the recorder's, and holds its lock.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveGrowingTests {
    private let stage = try! RecordingStage()

    private static let begin = ArchiveExportTests.begin
    private static let film = ArchiveExportTests.film

    /// Two archives of four seconds, and the parts of the third one, a second each.
    private func begun() throws -> (archive: GrowingArchive, parts: [[UInt8]]) {
        for from in [Int64(0), 4] {
            try stage.record(
                UInt64(from / 4 + 1), at: Self.begin + from * 1000, RecordingStage.part(Self.film, from, from + 4))
        }
        try stage.beginRecording()
        return (
            try Self.growing(3, at: Self.begin + 8000, in: stage.path("recordings/front")),
            try stage.fragments(RecordingStage.part(Self.film, 8, 12))
        )
    }

    private static func growing(_ sequence: UInt64, at begin: Int64, in directory: String) throws -> GrowingArchive {
        try GrowingArchive(
            RecordingName.stem(sequence), in: directory,
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM()),
            policy: PlaintextPolicy(stream: "front"), begin: begin)
    }

    private static func end(_ archive: GrowingArchive, _ sequence: UInt64) throws {
        _ = try archive.end { RecordingName(sequence: sequence, begin: $0, duration: $1).fileName }
    }

    @Test func `what is being recorded is in the film as far as it is written, and then told`() async throws {
        let (archive, parts) = try begun()
        let nothing = try await ArchiveExportTests.export(stage, "2026-11-28T10:00:08", "2026-11-28T10:00:30")
        #expect(nothing.status == ExitStatus.notFound.rawValue)
        #expect(nothing.errors.contains("is not written so far: run it again in a moment"), "\(nothing.errors)")
        for part in parts.prefix(2) { try archive.append(part[...], milliseconds: 1000) }
        // Half of the next entry: a writer is at it.
        let journal = stage.path("recordings/front/00000003.journal")
        let before = try stage.recordings
        let file = try #require(FileHandle(forUpdatingAtPath: journal))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: 7, count: 40))
        try file.close()
        let into = try await ArchiveExportTests.export(stage, "2026-11-28T10:00:06", "2026-11-28T10:00:30", ["--json"])
        #expect(into.status == 0, "\(into.errors)")
        let document = try ArchiveExportTests.document(into)
        #expect(document.recordsNow && document.archives == 2 && document.seams == [])
        let events = try RecordingStage.events(of: stage.path("film.mp4"))
        #expect(events.videoData == Array(Self.film.videoData[150..<250]), "\(events.videoData.count)")
        let told = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00:08", "2026-11-28T10:00:30.500", ["--force"])
        #expect(
            told.output.contains(
                "It ends 20 s before --to: what is being recorded now is written up to there, run it again for more"),
            "\(told.output)")
        // What lies within it is all there.
        let within = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00:08.500", "2026-11-28T10:00:09.500", ["--force"])
        #expect(!within.output.contains("recorded now") && !within.output.contains("It ends"), "\(within.output)")
        #expect(
            try RecordingStage.events(of: stage.path("film.mp4")).videoData == Array(Self.film.videoData[200..<238]))
        #expect(try stage.recordings == before, "nothing is written beside the recorder")
        // And it goes on.
        for part in parts.dropFirst(2) { try archive.append(part[...], milliseconds: 1000) }
        try Self.end(archive, 3)
        let all = try await ArchiveExportTests.export(
            stage, "2026-11-28T10:00", "2026-11-28T10:00:12", ["--force", "--json"])
        #expect(try !ArchiveExportTests.document(all).recordsNow)
        #expect(try RecordingStage.events(of: stage.path("film.mp4")).videoData == Self.film.videoData)
    }

    @Test func `one archive takes it as well, and a binder says that it does not`() async throws {
        let (archive, parts) = try begun()
        for part in parts.prefix(2) { try archive.append(part[...], milliseconds: 1000) }
        try stage.write(Array(try RecordingStage.key.publicKey.spkiPEM().utf8), "kas.pem")
        let times = ["--from", "2026-11-28T10:00", "--to", "2026-11-28T10:01", "--directory", "recordings"]
        let sealed = try await stage.run(
            ["create", "front"] + times + [
                "--profile", "s", "--key", "kas.key.pem", "--kas", "https://kas.example.net/kas", "--kas-key",
                "kas.pem",
                "--output", "front.tdf", "--json",
            ])
        #expect(sealed.status == 0, "\(sealed.errors)")
        #expect(try ArchiveExportTests.document(sealed).videoFrames == 250)
        let bound = try await stage.run(["create", "front"] + times + ["--output", "front.zip"])
        #expect(bound.status == 0, "\(bound.errors)")
        #expect(bound.output.contains("2 recordings of front"), "\(bound.output)")
        #expect(bound.output.contains("What is being recorded now is not in it"), "\(bound.output)")
        withExtendedLifetime(archive) {}
    }

    @Test func `by its name it is verified, opened and exported as any archive`() async throws {
        let (archive, parts) = try begun()
        for part in parts.prefix(3) { try archive.append(part[...], milliseconds: 1000) }
        let path = "recordings/front/00000003.part"
        for key in [[], ["--key", "kas.key.pem"]] {
            let outcome = try await stage.run(["verify", path] + key)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("as far as it is written: it grows"), "\(outcome.output)")
        }
        let opened = try await stage.run(["open", path, "--key", "kas.key.pem", "--output", "open.mp4", "--json"])
        #expect(try JSONDecoder().decode(ArchiveDocument.self, from: Data(opened.bytes)).growing == true)
        #expect(try stage.bytes("open.mp4") == Array(parts.prefix(3).joined()))
        let exported = try await stage.run(
            ["export", path, "--from", "2026-11-28T10:00:09", "--key", "kas.key.pem", "--output", "film.mp4"])
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(
            try RecordingStage.events(of: stage.path("film.mp4")).videoData == Array(Self.film.videoData[225..<275]))
        withExtendedLifetime(archive) {}
    }

    @Test func `what was changed in it is refused by its name and its segment`() async throws {
        let (archive, parts) = try begun()
        for part in parts { try archive.append(part[...], milliseconds: 1000) }
        let file = try #require(FileHandle(forUpdatingAtPath: stage.path("recordings/front/00000003.part")))
        let place = UInt64(TDFContainer.payloadOffset) + UInt64(parts[0].count + 28 + parts[1].count + 28 + 500)
        try file.seek(toOffset: place)
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: place)
        try file.write(contentsOf: Data([byte ^ 1]))
        try file.close()
        let outcome = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("because of 00000003.part"), "\(outcome.errors)")
        #expect(outcome.errors.contains("segment 2: it does not decrypt"), "\(outcome.errors)")
        #expect(try !stage.files.contains("film.mp4"))
        let before = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:08")
        #expect(before.status == 0, "what is whole can be had: \(before.errors)")
        withExtendedLifetime(archive) {}
    }

    @Test func `while recordings end and begin, each look has all that was written before it`() async throws {
        try stage.beginRecording()
        let count: UInt64 = 400
        /// Segments that were written before.
        let written = Atomic<Int>(0)
        let isOver = Atomic<Bool>(false)
        let looks = Atomic<Int>(0)
        let directory = stage.path("recordings/front")
        let thread = Thread {
            defer { isOver.store(true, ordering: .releasing) }
            for sequence in 1...count {
                guard let archive = try? Self.growing(sequence, at: Self.begin + Int64(sequence) * 100, in: directory)
                else { return }
                for _ in 0..<2 {
                    try? archive.append([UInt8](repeating: 1, count: 100)[...], milliseconds: 50)
                    written.add(1, ordering: .releasing)
                }
                try? Self.end(archive, sequence)
                // A look may meet the end of one and the beginning of the next, as a recorder's does, and not a hundred of them.
                let seen = looks.load(ordering: .acquiring)
                var tries = 0
                while looks.load(ordering: .acquiring) == seen, tries < 100_000 {
                    usleep(100)
                    tries += 1
                }
            }
        }
        thread.start()
        let shelf = RecordingShelf(directory: stage.path("recordings"))
        var withGrown = 0
        while !isOver.load(ordering: .acquiring) {
            let before = written.load(ordering: .acquiring)
            let (listing, grown) = try shelf.films(of: "front", between: .all, or: "nothing")
            looks.add(1, ordering: .releasing)
            let segments = listing.recordings.count * 2 + (grown?.reader.map.count ?? 0)
            #expect(segments >= before, "\(listing.recordings.count) and \(grown?.path ?? "none") of \(before)")
            if let grown {
                withGrown += 1
                try grown.reader.verifyStructure()
                #expect(grown.begin == Self.begin + Int64(listing.recordings.count + 1) * 100)
            }
        }
        #expect(written.load(ordering: .acquiring) == Int(count) * 2)
        #expect(withGrown > 0)
    }
}
