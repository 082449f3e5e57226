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
    static let begin: Int64 = 1_795_856_400_000
    /// Twelve seconds.
    static let film = try! RecordingStage.pattern(seconds: 12)

    /// Three archives of four seconds, the third one so much later than it would be.
    static func stage(gap: Int64 = 0) throws -> RecordingStage {
        let stage = try RecordingStage()
        for (index, from) in [Int64(0), 4, 8].enumerated() {
            try stage.record(
                UInt64(index + 1), at: begin + from * 1000 + (index == 2 ? gap : 0),
                RecordingStage.part(film, from, from + 4))
        }
        return stage
    }

    static func export(
        _ stage: RecordingStage, _ from: String, _ to: String, _ more: [String] = [], camera: String = "front",
        key: String = "kas.key.pem"
    ) async throws -> ProgramRun {
        try await stage.run(
            [
                "export", camera, "--from", from, "--to", to, "--key", key, "--output", "film.mp4", "--directory",
                "recordings",
            ] + more)
    }

    static func document(_ outcome: ProgramRun) throws -> ArchiveExportDocument {
        try JSONDecoder().decode(ArchiveExportDocument.self, from: Data(outcome.bytes))
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

    @Test(.enabled(if: FFmpegTool.ffmpeg != nil, "ffmpeg is not installed"))
    func `ffmpeg decodes the same frames out of it`() async throws {
        let stage = try Self.stage()
        _ = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        let whole = stage.path("whole.mp4")
        let writer = MediaWriter(.mp4, to: .file(path: whole))
        for event in Self.film { try writer.write(event) }
        try writer.finish()
        for track in ["v", "a"] {
            let hashes = try [whole, stage.path("film.mp4")].map { try FFmpegTool.frameHashes($0, track) }
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
            .init(path: path, begin: Self.begin), bytes, .init(from: Self.begin + 9_500, to: Self.begin + 10_500),
            policy: nil)
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
        try stage.beginRecording()
        let before = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:11")
        #expect(before.status == 0 && !before.output.contains("recorded now"), "\(before.output)")
        #expect(!before.output.contains("It ends"), "\(before.output)")
        let into = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:30", ["--force"])
        #expect(
            into.output.contains(
                "It ends 18 s before --to: what is being recorded now is written up to there, run it again for more"),
            "\(into.output)")
        let json = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:00:30", ["--force", "--json"])
        #expect(try Self.document(json).recordsNow)
        let earlier = try await Self.export(stage, "2026-11-28T09:00", "2026-11-28T09:10", ["--force"])
        #expect(earlier.status == ExitStatus.notFound.rawValue)
        #expect(
            earlier.errors.contains("see what is there: watchboxctl archive list front --directory recordings"),
            "\(earlier.errors)")
        let later = try await Self.export(stage, "2026-11-28T10:01", "2026-11-28T10:02", ["--force"])
        #expect(later.errors.contains("is not written so far: run it again in a moment"), "\(later.errors)")

        try FileManager.default.removeItem(atPath: stage.path("recordings/front/00000004.part"))
        let ended = try await Self.export(stage, "2026-11-28T10:00:00.040", "2026-11-28T10:00:30", ["--force"])
        #expect(ended.output.contains("It ends 18 s before --to: nothing behind that"), "\(ended.output)")
        #expect(!ended.output.contains("before --from"), "40 ms are nothing: \(ended.output)")
    }

    @Test func `what is pinned or deleted meanwhile is found, or told`() async throws {
        let stage = try Self.stage()
        func open(_ source: FilmSource) throws(CommandFailure) -> String {
            try source.opened(isListed: true, "film.mp4", nil).source.path
        }
        let name = try #require(try stage.recordings.first)
        let path = stage.path("recordings/front/\(name)")
        let source = FilmSource(path: path, begin: Self.begin)
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
            ArchiveBytes(opened, map: reader.map) { (_) throws(ArchiveError) in }, .all, policy: nil)
        _ = try export.finish(replaces: false)
        #expect(!FileManager.default.fileExists(atPath: stage.path("elsewhere")))
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
        if let ffmpeg = FFmpegTool.ffmpeg { #expect(try FFmpegTool.complaints(stage.path("film.mp4"), ffmpeg) == "") }

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

    @Test func `two exports go round a change, also where names reach into each other`() async throws {
        let stage = try RecordingStage()
        let silent = try stage.fragments(RecordingStage.pattern(seconds: 4, hasAudio: false))
        try stage.record(1, at: Self.begin, silent, milliseconds: 5000)
        try stage.record(2, at: Self.begin + 4000, RecordingStage.part(Self.film, 0, 4))
        let refused = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01")
        #expect(
            refused.errors.contains("--to 2026-11-28T09:00:04.000Z, and --from 2026-11-28T09:00:05.000Z"),
            "\(refused.errors)")
        for (from, to) in [("2026-11-28T10:00", "2026-11-28T09:00:04Z"), ("2026-11-28T09:00:05Z", "2026-11-28T10:01")] {
            let part = try await Self.export(stage, from, to, ["--force"])
            #expect(part.status == 0, "\(part.errors)")
        }
    }

    @Test func `a recording begins when its first frame is shown`() async throws {
        let stage = try RecordingStage()
        let late = Self.film.map { event in
            guard case .accessUnit(var unit) = event, unit.track.isVideo else { return event }
            unit.presentationTime = unit.decodeTime + MediaTime(milliseconds: 80)
            return MediaEvent.accessUnit(unit)
        }
        try stage.record(1, at: Self.begin, RecordingStage.part(late, 0, 4))
        let outcome = try await Self.export(stage, "2026-11-28T10:00", "2026-11-28T10:01", ["--json"])
        #expect(try Self.document(outcome).from == "2026-11-28T09:00:00.000Z", "\(outcome.errors)")
    }

    @Test func `a transport stream may begin at any time`() async throws {
        let stage = try RecordingStage()
        let bytes = try stage.transportStream(RecordingStage.part(Self.film, 0, 4), ahead: 3600)
        try stage.record(1, at: Self.begin, [bytes], milliseconds: 4000)
        let outcome = try await Self.export(stage, "2026-11-28T10:00:02.020", "2026-11-28T10:00:03", ["--json"])
        let document = try Self.document(outcome)
        #expect(document.from == "2026-11-28T09:00:02.000Z" && document.videoFrames == 25, "\(outcome.errors)")
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
        func export(_ file: String, _ times: [String]) async throws -> ProgramRun {
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
        let last = try await export("door.tdf", ["--from", "3.99"])
        #expect(try Self.document(last).videoFrames == 25, "\(last.errors)")
        let both = try await Self.export(stage, "1", "2", camera: "door.tdf")
        #expect(
            both.status == ExitStatus.usage.rawValue && both.errors.contains("--directory: 'door.tdf'"),
            "\(both.errors)")
        for from in ["4.5", "5", "1000", "999999999"] {
            let behind = try await export("door.tdf", ["--from", from])
            #expect(behind.status == ExitStatus.notFound.rawValue, "\(behind.errors)")
            #expect(behind.errors.contains("there is no frame in that time"), "\(behind.errors)")
        }
        let later = try await export("recordings/front/\(name)", ["--from", "9999-12-30"])
        #expect(later.status == ExitStatus.notFound.rawValue, "\(later.errors)")
        #expect(try stage.files.filter { $0.hasPrefix(".") } == [])
    }
}
