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

/// `watchboxctl archive export`, the program itself, on what a camera would have recorded.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveExportTests {
    /// 2026-11-28 10:00:00 CET.
    private static let begin: Int64 = 1_795_856_400_000
    /// Twelve seconds.
    private static let film = try! RecordingStage.pattern(seconds: 12)

    /// Three archives of four seconds, the third one so much later than it would be.
    private static func stage(gap: Int64 = 0) throws -> RecordingStage {
        let stage = try RecordingStage()
        for (index, from) in [Int64(0), 4, 8].enumerated() {
            try stage.record(
                UInt64(index + 1), at: begin + from * 1000 + (index == 2 ? gap : 0),
                RecordingStage.part(film, from, from + 4))
        }
        return stage
    }

    private static func export(
        _ stage: RecordingStage, _ from: String, _ to: String, _ more: [String] = [], camera: String = "front",
        key: String = "kas.key.pem"
    ) async throws -> RecordingStage.Outcome {
        try await stage.run(
            [
                "export", camera, "--from", from, "--to", to, "--key", key, "--output", "film.mp4", "--directory",
                "recordings",
            ] + more)
    }

    private static func document(_ outcome: RecordingStage.Outcome) throws -> ArchiveExportDocument {
        try JSONDecoder().decode(ArchiveExportDocument.self, from: Data(outcome.output.utf8))
    }

    @Test func `all of it is what the camera coded, byte for byte and in time`() async throws {
        let stage = try Self.stage()
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("film.mp4: 12 s, 2026-11-28 10:00:00 CET to 10:00:12, "), "\(outcome.output)")
        #expect(outcome.output.contains("from 3 archives."))
        let events = try RecordingStage.events(of: stage.path("film.mp4"))
        #expect(events.videoData == Self.film.videoData)
        #expect(events.audioData == Self.film.audioData)
        for (copied, original) in zip(events.videoTimes, Self.film.videoTimes) { #expect(abs(copied - original) <= 2) }
        for (copied, original) in zip(events.audioTimes, Self.film.audioTimes) { #expect(abs(copied - original) <= 2) }
        let mode = try FileManager.default.attributesOfItem(atPath: stage.path("film.mp4"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try stage.files == ["film.mp4", "kas.key.pem", "recordings"])
    }

    @Test(.enabled(if: Tool.ffmpeg != nil, "ffmpeg is not installed"))
    func `ffmpeg decodes the same frames out of it`() async throws {
        let stage = try Self.stage()
        _ = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        let whole = stage.path("whole.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: whole))
        for event in Self.film { try writer.write(event) }
        try writer.finish()
        for track in ["v", "a"] {
            let hashes = try [whole, stage.path("film.mp4")].map { try Tool.frameHashes($0, track) }
            #expect(!hashes[0].isEmpty && hashes[0] == hashes[1])
        }
    }

    @Test func `a part begins at the key frame before it, and ends in time`() async throws {
        let stage = try Self.stage()
        let outcome = try await Self.export(stage, "2026-11-28T10:00:05.700", "2026-11-28T10:00:09.100", ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try Self.document(outcome)
        #expect(document.schema == "watchbox.archive.export/1" && document.archives == 2 && document.seams == [])
        #expect(document.from == "2026-11-28T09:00:05.000Z", "\(document.from ?? "")")
        let events = try RecordingStage.events(of: stage.path("film.mp4"))
        // The frames 125 to 227: to 9.1 seconds.
        let expected = Array(Self.film.videoData[125..<228])
        #expect(events.videoData == expected, "\(events.videoData.count)")
        #expect(document.videoFrames == 103)
        #expect(document.seconds > 4.0 && document.seconds < 4.2)
        // Sound and picture belong together as before.
        let zero = Self.film.videoTimes[125]
        let sounds = zip(Self.film.audioTimes, Self.film.audioData).filter { $0.0 >= zero && $0.0 <= zero + 4_100 }
        let first = try #require(sounds.firstIndex { $0.1 == events.audioData.first })
        #expect(first <= 1 && abs(events.audioData.count - sounds.count) <= 2)
        let distance = (events.audioTimes.first ?? 0) - (events.videoTimes.first ?? 0)
        #expect(abs(distance - (sounds[first].0 - zero)) <= 2)
        let bytes = try stage.bytes("film.mp4")
        #expect(document.bytes == bytes.count)
    }

    @Test func `a part that begins in the middle opens the fragments that it needs`() throws {
        let stage = try RecordingStage()
        let path = try stage.record(1, at: Self.begin, Self.film)
        let reader = try ArchiveReader(path)
        #expect(reader.map.count >= 12)
        let opened = try reader.opened(
            try RecordingStage.key.archiveKey(from: reader.manifest.encryptionInformation.keyAccess[0]))
        var segments: Set<Int64> = []
        // The picture begins 21 ms after the sound, and the recording with the picture: frames 225 to 262.
        let bytes = ArchiveBytes(opened, map: reader.map) { (place) throws(ArchiveError) in segments.insert(place) }
        let export = try FilmExport(to: stage.path("part.mp4"), clock: nil)
        try export.add(
            .init(path: path, begin: Self.begin), bytes, .init(from: Self.begin + 9_500, to: Self.begin + 10_500))
        #expect(try export.finish(replaces: false)?.videoUnits == 38)
        #expect(segments.count <= 7, "\(segments.count) of \(reader.map.count)")
        let part = try RecordingStage.events(of: stage.path("part.mp4"))
        #expect(part.videoData == Array(Self.film.videoData[225..<263]))
        let zero = part.videoTimes[0]
        for (index, time) in part.videoTimes.enumerated() { #expect(abs(time - zero - Int64(index) * 40) <= 1) }
        #expect(export.timeline.begin == Self.begin + 9_000 && export.timeline.end >= Self.begin + 10_500)
    }

    @Test func `sound that begins before the picture costs no time, and moves none`() async throws {
        let stage = try RecordingStage()
        let zero = try #require(Self.film.units.first { $0.track.isVideo }).decodeTime.milliseconds
        for second in 0..<Int64(12) {
            let part = Self.film.filter {
                guard case .accessUnit(let unit) = $0 else { return true }
                let begin = zero + second * 1000 - (unit.track.isVideo ? 0 : 40)
                return (begin..<(begin + 1000)).contains(unit.decodeTime.milliseconds)
            }
            try stage.record(UInt64(second + 1), at: Self.begin + second * 1000, part)
        }
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:12", ["--json"])
        let document = try Self.document(outcome)
        #expect(document.seams == [] && document.from == "2026-11-28T09:00:00.000Z", "\(outcome.errors)")
        #expect(document.stream == "front" && document.recordsNow == false)
        let events = try RecordingStage.events(of: stage.path("film.mp4"))
        #expect(events.videoData == Self.film.videoData)
        let shift = events.videoTimes[0] - Self.film.videoTimes[0]
        let drift = zip(events.videoTimes, Self.film.videoTimes).map { abs($0 - $1 - shift) }.max() ?? 0
        #expect(drift <= 2)
        let part = try await Self.export(stage, "2026-11-28T10:00:05", "2026-11-28T10:00:07", ["--json", "--force"])
        #expect(try Self.document(part).videoFrames == 50, "\(part.errors)")
        #expect(
            try RecordingStage.events(of: stage.path("film.mp4")).videoData == Array(Self.film.videoData[125..<175]))
    }

    @Test func `what grows is told where the wanted time goes on in it, and nowhere else`() async throws {
        let stage = try Self.stage()
        try stage.write([], "recordings/front/00000004.part")
        let before = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:11")
        #expect(before.status == 0 && !before.output.contains("recorded now"), "\(before.output)")
        #expect(!before.output.contains("It ends"), "\(before.output)")
        let into = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:30", ["--force"])
        #expect(
            into.output.contains(
                "It ends 18 s before --to: what is being recorded now can be exported when it is finished"),
            "\(into.output)")
        let json = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:30", ["--force", "--json"])
        #expect(try Self.document(json).recordsNow)
        let earlier = try await Self.export(stage, "2026-11-28T09:00", "2026-11-28T09:10", ["--force"])
        #expect(earlier.status == ExitStatus.notFound.rawValue)
        #expect(
            earlier.errors.contains("see what is there: watchboxctl archive list front --directory recordings"),
            "\(earlier.errors)")
        let later = try await Self.export(stage, "2026-11-28T10:01", "2026-11-28T10:02", ["--force"])
        #expect(later.errors.contains("when it is finished, after a minute"), "\(later.errors)")

        try FileManager.default.removeItem(atPath: stage.path("recordings/front/00000004.part"))
        let ended = try await Self.export(stage, "2026-11-28T10:00:00.040", "2026-11-28T10:00:30", ["--force"])
        #expect(ended.output.contains("It ends 18 s before --to: nothing behind that"), "\(ended.output)")
        #expect(!ended.output.contains("before --from"), "40 ms are nothing: \(ended.output)")
    }

    @Test func `an archive of another stream is refused by its name`() async throws {
        let stage = try Self.stage()
        let parts = try stage.fragments(RecordingStage.part(Self.film, 0, 2))
        let path = try stage.record(4, at: Self.begin + 12_000, parts, milliseconds: 2000, stream: "garage")
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        let name = try #require(path.split(separator: "/").last)
        #expect(
            outcome.errors.contains(
                "because of \(name): its policy says that it is of the stream 'garage', and those before it are of the stream 'front'"
            ), "\(outcome.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
    }

    @Test func `what is pinned or deleted meanwhile is found, or told`() async throws {
        let stage = try Self.stage()
        func open(_ source: FilmExport.Source) throws(CommandFailure) -> String {
            try FilmExport.open(source, isListed: true, "film.mp4", nil).source.path
        }
        let name = try #require(try stage.recordings.first)
        let path = stage.path("recordings/front/\(name)")
        let source = FilmExport.Source(path: path, begin: Self.begin)
        #expect(try open(source) == path)
        let pinned = path.replacing(".tdf", with: "-pinned.tdf")
        try FileManager.default.moveItem(atPath: path, toPath: pinned)
        #expect(try open(source) == pinned)
        try FileManager.default.moveItem(atPath: pinned, toPath: path)
        #expect(try open(.init(path: pinned, begin: Self.begin)) == path)
        try FileManager.default.removeItem(atPath: path)
        let failure = #expect(throws: CommandFailure.self) { _ = try open(source) }
        #expect(failure?.status == .failed && failure?.why == "that was deleted meanwhile")
        let pipe = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--output", "-"])
        #expect(pipe.status == ExitStatus.usage.rawValue && pipe.errors.contains("name a file"), "\(pipe.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
    }

    @Test func `the film goes into the file that was made for it, not to where its name leads`() throws {
        let stage = try RecordingStage()
        let path = try stage.record(1, at: Self.begin, RecordingStage.part(Self.film, 0, 2))
        let reader = try ArchiveReader(path)
        let opened = try reader.opened(
            try RecordingStage.key.archiveKey(from: reader.manifest.encryptionInformation.keyAccess[0]))
        let export = try FilmExport(to: stage.path("film.mp4"), clock: nil)
        let temporary = try #require(try stage.files.first { $0.hasPrefix(".film.mp4.") })
        try FileManager.default.removeItem(atPath: stage.path(temporary))
        try FileManager.default.createSymbolicLink(
            atPath: stage.path(temporary), withDestinationPath: stage.path("elsewhere"))
        try export.add(
            .init(path: path, begin: Self.begin),
            ArchiveBytes(opened, map: reader.map) { (_) throws(ArchiveError) in }, .all)
        _ = try export.finish(replaces: false)
        #expect(!FileManager.default.fileExists(atPath: stage.path("elsewhere")))
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
        let path = try stage.record(1, at: Self.begin, [repeated], milliseconds: 60_000)
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:20")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        #expect(outcome.errors.contains("its frames are larger together than it is itself"), "\(outcome.errors)")

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
            try export.add(.init(path: path, begin: Self.begin), bytes, .all)
        }
        #expect(failure?.status == .abortedByUser, "\(failure?.description ?? "")")
    }

    @Test(arguments: [(3000, 3.0), (60_000, 1.0)] as [(Int64, Double)])
    func `a gap is in the film, as long as one waits for it`(gap: Int64, kept: Double) async throws {
        let stage = try Self.stage(gap: gap)
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:02", ["--json"])
        let document = try Self.document(outcome)
        #expect(document.seams.count == 1)
        let seam = try #require(document.seams.first)
        #expect(abs(seam.kept - kept) < 0.1 && abs(seam.at - 8) < 0.1, "\(seam)")
        #expect(abs(document.seconds - 12 - kept) < 0.1)
        let times = try RecordingStage.events(of: stage.path("film.mp4")).videoTimes
        #expect(abs(times[200] - times[199] - Int64(kept * 1000) - 40) < 100)
        let told = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:02", ["--force"])
        #expect(told.output.contains("8.0 s into it: nothing was recorded for "), "\(told.output)")
        #expect(told.output.contains("cut to 1.0 s") == (gap > 10_000))
    }

    @Test func `a time in a gap begins with what comes after it, and one with nothing is said`() async throws {
        let stage = try Self.stage(gap: 60_000)
        let outcome = try await Self.export(stage, "2026-11-28T10:00:20", "2026-11-28T10:01:09")
        #expect(outcome.output.contains("It begins 48 s after --from"), "\(outcome.output)\(outcome.errors)")
        let nothing = try await Self.export(stage, "2026-11-28T10:00:20", "2026-11-28T10:00:30", ["--force"])
        #expect(nothing.status == ExitStatus.notFound.rawValue)
        #expect(
            nothing.errors.contains("nothing of front is recorded from 2026-11-28 10:00:20 CET"), "\(nothing.errors)")
    }

    @Test func `other parameter sets go into the film, another codec does not`() async throws {
        let stage = try Self.stage()
        let other = try RecordingStage.pattern(seconds: 2, width: 320, height: 180)
        try stage.record(4, at: Self.begin + 12_000, other)
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status == 0, "\(outcome.errors)")
        let data = try RecordingStage.events(of: stage.path("film.mp4")).videoData
        #expect(Array(data.prefix(300)) == Self.film.videoData)
        #expect(data.count == 350)
        for (copied, original) in zip(data.suffix(50), other.videoData) {
            #expect(copied.suffix(original.count) == original[...])
        }
        if let ffmpeg = Tool.ffmpeg { #expect(try Tool.complaints(stage.path("film.mp4"), ffmpeg) == "") }

        let silent = try RecordingStage.pattern(seconds: 2, hasAudio: false)
        try stage.record(5, at: Self.begin + 14_000, silent)
        let without = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--force"])
        #expect(without.status == 0, "\(without.errors)")
        let withSound = try await Self.export(stage, "2026-11-28T10:00:14", "2026-11-28T10:01", ["--force"])
        #expect(withSound.status == 0, "\(withSound.errors)")
        try stage.record(6, at: Self.begin + 16_000, RecordingStage.part(Self.film, 0, 2))
        let late = try await Self.export(stage, "2026-11-28T10:00:14.500", "2026-11-28T10:01", ["--force"])
        #expect(late.status == ExitStatus.failed.rawValue)
        #expect(late.errors.contains("audio begins at 2026-11-28 10:00:16 CET (00000006-"), "\(late.errors)")
        #expect(late.errors.contains("Next: make two exports: --to 2026-11-28T09:00:16.000Z"), "\(late.errors)")
    }

    private static let hevc = try? RecordingStage.pattern(seconds: 1, encoder: "libx265")

    @Test(.enabled(if: Self.hevc != nil, "libx265 is not installed"))
    func `another codec is refused with its time`() async throws {
        let stage = try RecordingStage()
        try stage.record(1, at: Self.begin, RecordingStage.part(Self.film, 0, 2))
        let hevc = try #require(Self.hevc)
        try stage.record(2, at: Self.begin + 2000, hevc)
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(outcome.status == ExitStatus.failed.rawValue)
        #expect(outcome.errors.contains("the video goes on as H.265 at 2026-11-28 10:00:02 CET"), "\(outcome.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
    }

    @Test func `an archive that is damaged, cut or another's is named, and nothing is written`() async throws {
        let stage = try Self.stage()
        let name = try #require(try stage.recordings.dropFirst().first)
        let path = "recordings/front/\(name)"
        let whole = try stage.bytes(path)
        var damaged = whole
        damaged[whole.count / 2] ^= 1
        try stage.write(damaged, path)
        let refused = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(refused.status == ExitStatus.failed.rawValue)
        #expect(refused.errors.contains("film.mp4 was not written, because of \(name): segment "), "\(refused.errors)")
        #expect(
            refused.errors.contains("go round it: --to 2026-11-28T09:00:04.000Z, and --from 2026-11-28T09:00:08.000Z"),
            "\(refused.errors)")
        let round = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T09:00:04Z")
        #expect(round.status == 0, "\(round.errors)")
        try FileManager.default.removeItem(atPath: stage.path("film.mp4"))

        for count in [0, 10, whole.count - 1, whole.count / 2] {
            try stage.write(Array(whole.prefix(count)), path)
            let cut = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
            #expect(cut.status == ExitStatus.failed.rawValue && cut.errors.contains(name), "\(cut.errors)")
        }
        try stage.write(whole, path)
        try stage.write(Array(try RecordingStage.otherKey.privateKeyPEM().utf8), "other.pem")
        let other = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", key: "other.pem")
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

    @Test func `a file that is there stays, unless somebody says so`() async throws {
        let stage = try Self.stage()
        try stage.write([7], "film.mp4")
        let refused = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(refused.status == ExitStatus.usage.rawValue && refused.errors.contains("--force"))
        #expect(try stage.bytes("film.mp4") == [7])
        let forced = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--force"])
        #expect(forced.status == 0, "\(forced.errors)")
        let name = try #require(try stage.recordings.first)
        let itself = try await stage.run([
            "export", "recordings/front/\(name)", "--key", "kas.key.pem", "--output", "recordings/front/\(name)",
            "--force",
        ])
        #expect(
            itself.status == ExitStatus.usage.rawValue && itself.errors.contains("is what is read"), "\(itself.errors)")
    }

    @Test func `of one archive times are its own, or those of its name`() async throws {
        let stage = try Self.stage()
        let name = try #require(try stage.recordings.first)
        try FileManager.default.copyItem(atPath: stage.path("recordings/front/\(name)"), toPath: stage.path("door.tdf"))
        func export(_ file: String, _ times: [String]) async throws -> RecordingStage.Outcome {
            try await stage.run(
                ["export", file, "--key", "kas.key.pem", "--output", "film.mp4", "--force", "--json"] + times)
        }
        for file in ["door.tdf", "recordings/front/\(name)"] {
            let all = try await export(file, [])
            #expect(try Self.document(all).videoFrames == 100, "\(all.errors)")
            let part = try await export(file, ["--from", "1.5", "--to", "2.5"])
            #expect(try Self.document(part).videoFrames == 38, "\(part.errors)")
        }
        let named = try await export("./recordings/front/\(name)", ["--from", "2026-11-28T10:00:03"])
        #expect(try Self.document(named).from?.hasPrefix("2026-11-28T09:00:0") == true, "\(named.errors)")
        let unknown = try await export("door.tdf", ["--from", "10:00"])
        #expect(unknown.status == ExitStatus.usage.rawValue)
        #expect(unknown.errors.contains("does not say when it was recorded"), "\(unknown.errors)")
        let backwards = try await export("door.tdf", ["--from", "3", "--to", "3"])
        #expect(backwards.status == ExitStatus.usage.rawValue)
        let missing = try await export("nothing.tdf", [])
        #expect(
            missing.status == ExitStatus.usage.rawValue && missing.errors.contains("nothing.tdf"), "\(missing.errors)")
        for from in ["1000", "999999999"] {
            let behind = try await export("door.tdf", ["--from", from])
            #expect(behind.status == ExitStatus.notFound.rawValue, "\(behind.errors)")
            #expect(behind.errors.contains("there is no frame in that time"), "\(behind.errors)")
        }
        let later = try await export("recordings/front/\(name)", ["--from", "9999-12-30"])
        #expect(later.status == ExitStatus.notFound.rawValue, "\(later.errors)")
        #expect(try stage.files.filter { $0.hasPrefix(".") } == [])
    }

    /// Whoever has the public key of the KAS can seal anything.
    @Test func `what is no film, or an absurd one, is refused`() async throws {
        let stage = try RecordingStage()
        let parts = try stage.fragments(RecordingStage.part(Self.film, 0, 4))
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
            let camera = try stage.record(UInt64(index), at: Self.begin, film, milliseconds: 4000)
            for from in ["2026-11-28T10:00", "2026-11-28T10:00:02.500"] {
                let outcome = try await Self.export(stage, from, "2026-11-28T10:01", ["--force"])
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

/// Where an MP4 that ends with its index says which bytes its frames are; numbers of 4 bytes each.
private struct MovieTables {
    private let bytes: [UInt8]
    private static let containers: Set<String> = ["moov", "trak", "mdia", "minf", "stbl"]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A number in the first box of a kind, counted from the end of its header.
    func first(_ kind: String, at offset: Int) -> UInt32? {
        guard let place = bytes.firstRange(of: Array(kind.utf8)) else { return nil }
        return Self.number(bytes[(place.upperBound + offset)...])
    }

    /// The film with other content of some boxes.
    func replaced(_ boxes: [String: [UInt32]]) -> [UInt8] { Self.replaced(bytes[...], boxes) }

    private static func replaced(_ bytes: ArraySlice<UInt8>, _ boxes: [String: [UInt32]]) -> [UInt8] {
        var rest = bytes
        var result: [UInt8] = []
        while rest.count >= 8 {
            let box = rest.prefix(Int(number(rest)))
            let kind = String(decoding: box.dropFirst(4).prefix(4), as: UTF8.self)
            let content =
                boxes[kind].map { $0.flatMap(Self.bytes) }
                ?? (containers.contains(kind) ? replaced(box.dropFirst(8), boxes) : Array(box.dropFirst(8)))
            result += Self.bytes(UInt32(content.count + 8)) + box.dropFirst(4).prefix(4) + content
            rest = rest.dropFirst(box.count)
        }
        return result
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }
}

/// ffmpeg, as somebody else who looks at films.
private enum Tool {
    static let ffmpeg = ["/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    private static func run(_ path: String, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }

    /// MD5 of each decoded frame.
    static func frameHashes(_ file: String, _ track: String) throws -> [Substring] {
        try run(ffmpeg ?? "", ["-v", "error", "-i", file, "-map", "0:\(track)", "-f", "framemd5", "-"])
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ",").last }
    }

    static func complaints(_ file: String, _ ffmpeg: String) throws -> String {
        try run(ffmpeg, ["-v", "error", "-xerror", "-i", file, "-f", "null", "-"])
    }
}
