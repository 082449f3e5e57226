import Console
import Cryptography
import Foundation
import Media
import MediaFile
import NanoTDF
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import Archive
@testable import BoxCommands

/// `watchboxctl archive export` of what is damaged, another's, or made to harm: whoever has the KAS's public key can seal anything.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveExportHostileTests {
    @Test func `a trap is no exit status of ours`() async throws {
        let stage = try RecordingStage()
        let shell = String(repeating: "../", count: 32) + "bin/sh"
        let trap = try await ProgramRun(shell, ["-c", "kill -ILL $$"], in: stage.directory)
        #expect(trap.status == -SIGILL)
        #expect(try await ProgramRun(shell, ["-c", "exit 4"], in: stage.directory).status == 4)
    }

    @Test func `parameter sets that go in front of each key frame count as well`() async throws {
        let stage = try RecordingStage()
        let film = try RecordingStage.pattern(seconds: 4, hasAudio: false)
        try stage.record(1, at: ArchiveExportTests.begin, film)
        let large = film.map { event in
            switch event {
            case .accessUnit(var unit):
                unit.isKeyFrame = true
                return MediaEvent.accessUnit(unit)
            case .videoFormat(var format):
                let record = try? AVCConfigurationRecord.parse(format.configurationRecord[...])
                let sets = record?.pictureParameterSets ?? []
                format.configurationRecord = Self.record(
                    record?.sequenceParameterSets ?? [],
                    sets + [[UInt8]](repeating: [0x68] + [UInt8](repeating: 7, count: 9_999), count: 20))
                return .videoFormat(format)
            case .audioFormat: return event
            }
        }
        try stage.record(2, at: ArchiveExportTests.begin + 4000, large)
        let outcome = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:20")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        #expect(
            outcome.errors.contains("because of 00000002-")
                && outcome.errors.contains("its frames are larger together than it is itself"), "\(outcome.errors)")
        // What it says of itself alone is the film's own, once.
        let alone = try await ArchiveExportTests.export(stage, "2026-11-28T10:00:04", "2026-11-28T10:20")
        #expect(alone.status == 0, "\(alone.errors)")
    }

    /// ISO/IEC 14496-15 §5.3.3.1
    private static func record(_ sequence: [[UInt8]], _ picture: [[UInt8]]) -> [UInt8] {
        func units(_ units: [[UInt8]]) -> [UInt8] {
            units.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }
        }
        return [1] + (sequence.first ?? []).dropFirst().prefix(3) + [0xFF, 0xE0 | UInt8(sequence.count)]
            + units(sequence) + [UInt8(picture.count)] + units(picture)
    }

    @Test func `an archive of another stream is refused by its name`() async throws {
        let stage = try ArchiveExportTests.stage()
        let parts = try stage.fragments(RecordingStage.part(ArchiveExportTests.film, 0, 2))
        let path = try stage.record(
            4, at: ArchiveExportTests.begin + 12_000, parts, milliseconds: 2000, stream: "garage")
        let outcome = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        let name = try #require(path.split(separator: "/").last)
        #expect(
            outcome.errors.contains(
                "because of \(name): its policy says that it is of the stream 'garage', and those before it are of the stream 'front'"
            ), "\(outcome.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
    }

    @Test func `an archive cannot become larger than it is, and work on it can be ended`() async throws {
        let stage = try RecordingStage()
        let writer = MediaWriter(.mp4, to: .file(path: stage.path("film")))
        for event in try RecordingStage.pattern(seconds: 1, hasAudio: false) { try writer.write(event) }
        try writer.finish()
        let film = try stage.bytes("film")
        let tables = MovieTables(film)
        let (offset, size) = (try #require(tables.first("stco", at: 8)), try #require(tables.first("stsz", at: 12)))
        let count: UInt32 = 20_000
        let repeated = tables.replaced([
            "stsz": [0, size, count], "stts": [0, 1, count, 512], "stsc": [0, 1, 1, 1, 1],
            "stco": [0, count] + [UInt32](repeating: offset, count: Int(count)), "stss": [0, 1, 1],
        ])
        #expect(repeated.count < 200_000)
        let path = try stage.record(1, at: ArchiveExportTests.begin, [repeated], milliseconds: 60_000)
        let outcome = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:20")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        #expect(outcome.errors.contains("its frames are larger together than it is itself"), "\(outcome.errors)")
        #expect(
            outcome.errors.contains("go round it: --to 2026-11-28T09:00:00.000Z, and --from 2026-11-28T09:01:00.000Z"),
            "\(outcome.errors)")

        let reader = try ArchiveReader(path)
        let opened = try reader.opened(
            try RecordingStage.key.archiveKey(from: reader.manifest.encryptionInformation.keyAccess[0]))
        var asked = 0
        let bytes = ArchiveBytes(opened, map: reader.map) { (_) throws(ArchiveError) in
            asked += 1
            if asked > 20 { throw .cancelled }
        }
        let export = try FilmExport(to: stage.path("part.mp4"), clock: nil)
        let failure = #expect(throws: CommandFailure.self) {
            try export.add(.init(path: path, begin: ArchiveExportTests.begin), bytes, .all, policy: nil)
        }
        #expect(failure?.status == .abortedByUser, "\(failure?.description ?? "")")
    }

    @Test func `an archive that is damaged, cut or another's is named, and nothing is written`() async throws {
        let stage = try ArchiveExportTests.stage()
        let name = try #require(try stage.recordings.dropFirst().first)
        let path = "recordings/front/\(name)"
        let whole = try stage.bytes(path)
        var damaged = whole
        damaged[whole.count / 2] ^= 1
        try stage.write(damaged, path)
        let refused = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(refused.status == ExitStatus.failed.rawValue)
        #expect(refused.errors.contains("film.mp4 was not written, because of \(name): segment "), "\(refused.errors)")
        #expect(
            refused.errors.contains("go round it: --to 2026-11-28T09:00:04.000Z, and --from 2026-11-28T09:00:08.000Z"),
            "\(refused.errors)")
        let round = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T09:00:04Z")
        #expect(round.status == 0, "\(round.errors)")
        try FileManager.default.removeItem(atPath: stage.path("film.mp4"))

        for count in [0, 10, whole.count - 1, whole.count / 2] {
            try stage.write(Array(whole.prefix(count)), path)
            let cut = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
            #expect(cut.status == ExitStatus.failed.rawValue && cut.errors.contains(name), "\(cut.errors)")
        }
        try stage.write(whole, path)
        try stage.write(Array(try RecordingStage.otherKey.privateKeyPEM().utf8), "other.pem")
        let other = try await ArchiveExportTests.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", key: "other.pem")
        #expect(other.status == ExitStatus.notPermitted.rawValue)
        #expect(other.errors.contains("was not wrapped for the key in other.pem"), "\(other.errors)")
        let unreachable = try await stage.run([
            "export", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T10:01", "--directory", "recordings",
            "--output", "film.mp4", "--kas", "http://127.0.0.1:1/kas",
        ])
        #expect(unreachable.status == ExitStatus.remoteUnreachable.rawValue)
        #expect(unreachable.errors.contains("because of 00000001-"), "\(unreachable.errors)")
        #expect(try stage.files == ["kas.key.pem", "other.pem", "recordings"])
    }

    /// Whoever has the public key of the KAS can seal anything.
    @Test func `what is no film, or an absurd one, is refused`() async throws {
        let stage = try RecordingStage()
        let parts = try stage.fragments(RecordingStage.part(ArchiveExportTests.film, 0, 4))
        var later = parts
        // The time of the second fragment, at the end of time.
        if let place = later[1].firstRange(of: Array("tfdt".utf8)) {
            let count = later[1][place.upperBound] == 1 ? 8 : 4
            for index in 0..<count { later[1][place.upperBound + 4 + index] = index == 0 ? 0x7F : 0xFF }
        }
        var generator = SeededGenerator(seed: 1)
        var films: [[[UInt8]]] = [
            [[]], [[0]], [[UInt8]](repeating: [UInt8](repeating: 0, count: 1000), count: 5),
            [Array("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n".utf8)],
            [Array("ffconcat version 1.0\nfile /etc/passwd\n".utf8)], later, Array(parts.dropFirst()),
            Array(parts.prefix(1)) + [[UInt8](repeating: 0xFF, count: 5000)] + Array(parts.dropFirst(2)),
            parts.map { Array($0.prefix($0.count / 2)) }, parts.reversed(),
        ]
        for _ in 0..<20 {
            var changed = parts
            for _ in 0..<8 {
                let part = Int.random(in: 0..<changed.count, using: &generator)
                let place = Int.random(in: 0..<min(800, changed[part].count), using: &generator)
                changed[part][place] = UInt8.random(in: 0...255, using: &generator)
            }
            films.append(changed)
        }
        for (index, film) in films.enumerated() {
            let camera = try stage.record(UInt64(index), at: ArchiveExportTests.begin, film, milliseconds: 4000)
            for from in ["2026-11-28T10:00", "2026-11-28T10:00:02.500"] {
                let outcome = try await ArchiveExportTests.export(stage, from, "2026-11-28T10:01", ["--force"])
                #expect(
                    [0, 1, ExitStatus.notFound.rawValue].contains(outcome.status),
                    "film \(index): \(outcome.status) \(outcome.errors)")
                if index < 5 { #expect(outcome.status != 0 && outcome.errors.contains("Next: "), "film \(index)") }
            }
            try FileManager.default.removeItem(atPath: camera)
        }
        let left = try stage.files.filter { $0.hasPrefix(".") }
        #expect(left == [])
    }
}

extension RecordingStage {
    static let otherKey = try! RSAPrivateKey.generate(bits: 2048)
}
