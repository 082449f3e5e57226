import Archive
import CameraModel
import ErrorCatalog
import Foundation
import Media
import Synchronization
import TDF
import Testing

@testable import Recording

struct RecordingWriterTests {
    @Test func `every frame is in a recording, byte for byte, and each recording begins by itself`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer()
        stage.show(film, to: writer)
        writer.end()

        let names = stage.names
        #expect(names.map(\.sequence) == [1, 2, 3, 4])
        #expect(stage.files.count == 4, "nothing else is left: \(stage.files)")
        #expect(names.map(\.duration) == [3000, 3000, 3000, 1000])
        for (name, next) in zip(names, names.dropFirst()) { #expect(abs(next.begin - name.end) <= 1) }
        let frames = try stage.frames()
        #expect(frames.filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        for name in names { #expect(try stage.frames(of: name).first(where: \.track.isVideo)?.isKeyFrame == true) }
        // A tone goes on over a cut; what comes before the first key frame is in no recording.
        let audio = frames.filter { !$0.track.isVideo }.map(\.data)
        #expect(film.audio.count - audio.count <= 3 && film.audio.map(\.data).suffix(audio.count) == audio[...])

        let statistics = writer.statistics
        #expect(statistics.state == .stopped && statistics.code == nil)
        #expect(statistics.files == 4)
        #expect(statistics.frames == UInt64(frames.count))
        #expect(statistics.droppedFrames <= 3, "what comes before the first key frame is not lost")
        let sizes = try stage.files.map { try Data(contentsOf: URL(filePath: "\(stage.directory)/\($0)")).count }
        #expect(statistics.bytes == Int64(sizes.reduce(0, +)))
    }

    @Test func `no part of a frame and no parameter set is on the disk in clear, at any time`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 5)
        let writer = try stage.writer()
        var formats: [[UInt8]] = []
        for event in film { if case .videoFormat(let format) = event { formats.append(format.configurationRecord) } }
        let secrets = film.video.map { Array($0.data.dropFirst(8).prefix(24)) } + formats.map { Array($0.dropFirst(8)) }
        for (count, event) in film.enumerated() {
            stage.show([event], to: writer)
            guard count % 40 == 0 else { continue }
            try Self.expectNone(of: secrets, in: stage.everything())
        }
        writer.end()
        try Self.expectNone(of: secrets, in: stage.everything())
        // It would be found where it is.
        let content = try RecordingStage.content("\(stage.directory)/\(stage.files[0])")
        #expect(Data(content).range(of: Data(secrets[0])) != nil)
    }

    private static func expectNone(of secrets: [[UInt8]], in bytes: [UInt8]) throws {
        let disk = Data(bytes)
        for secret in secrets where disk.range(of: Data(secret)) != nil {
            Issue.record("\(secret.count) bytes of media are on the disk in clear")
            return
        }
        #expect(disk.range(of: Data("mdat".utf8)) == nil && disk.range(of: Data("avcC".utf8)) == nil)
    }

    @Test func `without a key nothing is written at all`() throws {
        let stage = try RecordingStage()
        let writer = RecordingWriter(stage.settings(), system: stage.system)
        writer.recipientFailure = ("the KAS does not answer", .noKey)
        writer.start()
        let film = try Film.pattern(seconds: 5)
        stage.show(film, to: writer)
        #expect(stage.files == [])
        #expect(writer.statistics.state == .waitingForKey && writer.statistics.code == .noKey)
        #expect(writer.statistics.reason == "the KAS does not answer")
        writer.recipient = try RecordingStage.recipient()
        stage.show(film.later(by: MediaTime(milliseconds: 5000)), to: writer)
        writer.end()
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        #expect(writer.statistics.droppedFrames >= film.video.count)
    }

    @Test func `a process that is killed loses what was not flushed, and the next start ends its recording`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        do {
            let writer = try stage.writer(stage.settings(length: 60_000))
            stage.show(Array(film.dropLast(10)), to: writer)
            #expect(stage.names.isEmpty && !stage.files.isEmpty)
        }
        let after = try stage.writer()
        #expect(stage.names.map(\.sequence) == [1] && stage.files.count == 1)
        let frames = try stage.frames().filter(\.track.isVideo).map(\.data)
        // Whole groups of pictures, all but the last one.
        #expect(frames == film.video.prefix(9 * 25).map(\.data))
        #expect(stage.names.first?.duration == 9000)
        stage.pass(seconds: 5)
        stage.show(film, to: after)
        after.end()
        #expect(stage.names.map(\.sequence) == [1, 2, 3, 4, 5])
    }

    @Test func `the oldest go when all take as much as they may, and never more is there`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let limit = film.size / 2
        let writer = try stage.writer(stage.settings(maxBytes: Int64(limit), length: 1000))
        var highest = 0
        for event in film {
            stage.show([event], to: writer)
            let sizes = try stage.files.map { try Data(contentsOf: URL(filePath: "\(stage.directory)/\($0)")).count }
            highest = max(highest, sizes.reduce(0, +))
        }
        // The end of a recording, which has no media, comes after it was made room for.
        #expect(highest <= limit + 8000 && highest > limit / 2)
        writer.end()
        #expect(writer.statistics.deletedFiles > 0)
        let frames = try stage.frames().filter(\.track.isVideo).map(\.data)
        #expect(frames.count >= 25 && frames == film.video.suffix(frames.count).map(\.data))
        #expect(writer.statistics.code == nil, "what is as it was asked for is no fault")
    }

    @Test func `pinned ones stay, also when nothing more can be recorded for them`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 5)
        let before = try stage.writer(stage.settings(length: 1000))
        stage.show(film, to: before)
        before.end()
        let kept = try stage.pin(true)
        #expect(kept.count == 5)
        // Room for what is there, and hardly more.
        let writer = try stage.writer(
            stage.settings(maxBytes: Int64(try stage.everything().count) + 2000, length: 1000))
        stage.pass(seconds: 100)
        stage.show(film.later(by: MediaTime(milliseconds: 1_000_000)), to: writer)
        #expect(writer.statistics.state == .failing && writer.statistics.code == .recordingFailed)
        #expect(writer.statistics.reason?.contains("pinned") == true)
        #expect(Set(kept).isSubset(of: Set(stage.names)))
        // Let go, they make room again.
        try stage.pin(false)
        stage.pass(seconds: 100)
        stage.show(film.later(by: MediaTime(milliseconds: 20_000_000)), to: writer)
        #expect(writer.statistics.state == .recording, "\(writer.statistics)")
        #expect(writer.statistics.code == nil)
        writer.end()
    }

    @Test func `where others fill the disk, recordings go before their time, and the code says so`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer(stage.settings(minFree: 1_000_000, length: 1000))
        stage.show(film, to: writer)
        let before = stage.names.count
        stage.clock.withLock { $0.free = 999_999 }
        stage.pass(seconds: 1)
        writer.tick()
        #expect(stage.names.count == before - 1, "one is enough")
        #expect(writer.statistics.code == .recordingShortened && writer.statistics.state == .recording)
        writer.tick()
        #expect(stage.names.count == before - 1, "the room is not seen at once")
        stage.clock.withLock { $0.free = 2_000_000 }
        stage.pass(seconds: 4000)
        writer.tick()
        #expect(writer.statistics.code != .recordingShortened)
        writer.end()
    }

    @Test func `hardly more than is to stay free: the oldest go, and the next recording begins`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let before = try stage.writer(stage.settings(length: 1000))
        stage.show(film, to: before)
        before.end()
        let count = stage.names.count
        let writer = try stage.writer(stage.settings(minFree: 1_000_000, length: 1000))
        stage.clock.withLock { $0.free = 1_010_000 }
        let second = Array(
            film.prefix { event in
                if case .accessUnit(let unit) = event { unit.decodeTime < MediaTime(milliseconds: 900) } else { true }
            })
        stage.show(second.later(by: MediaTime(milliseconds: 100_000)), to: writer)
        #expect(writer.open != nil && writer.statistics.state == .recording, "\(writer.statistics)")
        #expect(stage.names.count < count && stage.names.count > count - 5)
        writer.end()
    }

    @Test func `where others fill the disk and nothing is left to go, nothing is recorded`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 5)
        stage.clock.withLock { $0.free = 999_999 }
        let writer = try stage.writer(stage.settings(minFree: 1_000_000, length: 1000))
        stage.show(film, to: writer)
        #expect(stage.files == [] && writer.statistics.state == .failing)
        #expect(writer.statistics.code == .recordingFailed && writer.statistics.reason?.contains("free") == true)
        stage.clock.withLock { $0.free = 2_000_000 }
        stage.pass(seconds: 100)
        stage.show(film.later(by: MediaTime(milliseconds: 200_000)), to: writer)
        #expect(writer.statistics.state == .recording)
        writer.end()
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
    }

    @Test func `what is too old goes, but not by a clock that may be wrong`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer(stage.settings(maxAge: 3_600_000, length: 1000))
        stage.show(try Film.pattern(seconds: 5), to: writer)
        writer.end()
        let count = stage.names.count
        stage.clock.withLock { $0.isRight = false }
        stage.pass(seconds: 7200)
        let later = try stage.writer(stage.settings(maxAge: 3_600_000))
        later.tick()
        #expect(stage.names.count == count)
        stage.clock.withLock { $0.isRight = true }
        later.tick()
        #expect(stage.names.isEmpty)
        later.end()
    }

    @Test func `a clock that is set while a recording grows names it right`() throws {
        let stage = try RecordingStage()
        stage.clock.withLock { $0.wall = 10_000 }
        let writer = try stage.writer(stage.settings(length: 60_000))
        let film = try Film.pattern(seconds: 5)
        stage.show(Array(film.prefix(film.count / 2)), to: writer)
        stage.clock.withLock { $0.wall = 1_800_000_000_000 }
        stage.show(Array(film.dropFirst(film.count / 2)), to: writer)
        writer.end()
        // The first frame of all is not the first one of video.
        #expect(stage.names.allSatisfy { (1_800_000_000_000...1_800_000_000_100).contains($0.begin) })
        #expect(stage.names.count == 1)
    }

    @Test func `a camera that stands still has its recording ended`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 2)
        let writer = try stage.writer(stage.settings(length: 60_000))
        stage.show(film, to: writer)
        #expect(stage.names.isEmpty)
        stage.pass(seconds: 10)
        writer.tick()
        #expect(stage.names.map(\.duration) == [2000])
        #expect(writer.statistics.state == .waitingForFrames)
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
    }

    @Test func `a long group of pictures is written before its end`() throws {
        let stage = try RecordingStage()
        var settings = stage.settings(length: 60_000)
        settings.maxFragment = 20_000
        let film = try Film.pattern(seconds: 5, hasAudio: false)
        let first = try #require(film.video.first)
        // One key frame, and then none: as far as the writer can see.
        let long = film.map { event in
            guard case .accessUnit(var unit) = event, unit.decodeTime != first.decodeTime else { return event }
            unit.isKeyFrame = false
            return .accessUnit(unit)
        }
        do {
            let writer = try stage.writer(settings)
            stage.show(long, to: writer)
            stage.pass(seconds: 2)
            writer.tick()
        }
        _ = try stage.writer()
        let frames = try stage.frames().map(\.data)
        #expect(frames.count > film.video.count / 2)
        #expect(frames == film.video.prefix(frames.count).map(\.data))
    }

    @Test func `another size of the image is in a recording of its own`() throws {
        let stage = try RecordingStage()
        let small = try Film.pattern(seconds: 2)
        let large = try Film.pattern(seconds: 2, width: 640).later(by: MediaTime(milliseconds: 2000))
        let writer = try stage.writer(stage.settings(length: 60_000))
        stage.show(small, to: writer)
        stage.show(large, to: writer)
        writer.end()
        #expect(stage.names.count == 2)
        #expect(try stage.frames(of: stage.names[0]).filter(\.track.isVideo).map(\.data) == small.video.map(\.data))
        #expect(try stage.frames(of: stage.names[1]).filter(\.track.isVideo).map(\.data) == large.video.map(\.data))
    }

    @Test func `a directory that is not there is waited for`() throws {
        let stage = try RecordingStage()
        try FileManager.default.removeItem(atPath: stage.directory)
        let writer = try stage.writer()
        let film = try Film.pattern(seconds: 2)
        stage.show(film, to: writer)
        #expect(writer.statistics.state == .failing && writer.statistics.code == .recordingFailed)
        try FileManager.default.createDirectory(atPath: stage.directory, withIntermediateDirectories: true)
        stage.pass(seconds: 60)
        stage.show(film.later(by: MediaTime(milliseconds: 60_000)), to: writer)
        writer.end()
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
    }
}
