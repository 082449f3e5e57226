import Archive
import CameraModel
import ErrorCatalog
import Foundation
import Glibc
import Media
import Synchronization
import Testing

@testable import Platform
@testable import Recording

/// What others do to the directory, and sources that are not as they should be.
struct RecordingTroubleTests {
    @Test func `what is pinned, let go or deleted while a recording is open is seen at the next one`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer(stage.settings(length: 2000))
        stage.show(film, to: writer)
        #expect(stage.names.count == 4 && writer.open != nil)
        try stage.pin(true)
        let gone = stage.names[1]
        try FileManager.default.removeItem(atPath: "\(stage.directory)/\(gone.fileName)")
        stage.touch()
        stage.show(film.later(by: MediaTime(milliseconds: 10_000)), to: writer)
        writer.tick()
        let names = Set(stage.names)
        #expect(Set(writer.index.map(\.name)) == names)
        #expect(names.filter(\.isPinned).count == 3)
        #expect(writer.statistics.pinnedBytes > 0 && writer.statistics.deletedFiles == 0)
        try stage.pin(false)
        stage.show(film.later(by: MediaTime(milliseconds: 20_000)), to: writer)
        writer.end()
        #expect(writer.statistics.pinnedBytes == 0)
    }

    @Test func `audio that ends does not hold frames back`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 20)
        let silent = film.filter { event in
            guard case .accessUnit(let unit) = event, !unit.track.isVideo else { return true }
            return unit.decodeTime < MediaTime(milliseconds: 4000)
        }
        do {
            let writer = try stage.writer(stage.settings(length: 8000))
            stage.show(silent, to: writer)
        }
        try stage.writer().end()
        let frames = try stage.frames().filter(\.track.isVideo).map(\.data)
        // As when there is audio: all but the last group of pictures, also in recordings that have none at all.
        #expect(frames == film.video.prefix(19 * 25).map(\.data))
        #expect(stage.names.map(\.duration).reduce(0, +) == 19_000)
    }

    @Test func `two processes do not record into one directory`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 5)
        let first = try stage.writer()
        let second = try stage.writer()
        stage.show(film, to: first)
        stage.show(film, to: second)
        #expect(second.statistics.state == .failing)
        #expect(second.statistics.reason?.contains("another process records") == true)
        first.end()
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        stage.pass(seconds: 100)
        stage.show(film.later(by: MediaTime(milliseconds: 200_000)), to: second)
        #expect(second.statistics.state == .recording)
        second.end()
    }

    @Test func `a leftover that cannot be ended does not keep the next ones from being recorded`() throws {
        let stage = try RecordingStage()
        for name in ["00000007.part", "00000007.journal"] {
            try FileManager.default.createDirectory(
                atPath: "\(stage.directory)/\(name)", withIntermediateDirectories: false)
        }
        let film = try Film.pattern(seconds: 5)
        let writer = try stage.writer(stage.settings(length: 60_000))
        stage.show(film, to: writer)
        #expect(writer.statistics.state == .recording && writer.statistics.code == .writeFailed)
        #expect(writer.statistics.reason?.contains("cannot be ended") == true)
        writer.end()
        #expect(stage.names.map(\.sequence) == [8])
    }

    @Test
    func `a clock that is set later corrects the names of what was recorded before, and nothing goes for its age`()
        throws
    {
        let stage = try RecordingStage()
        stage.clock.withLock { clock in
            clock.wall = 1_700_000_000_000
            clock.isRight = false
        }
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer(stage.settings(maxAge: 3_600_000, length: 2000))
        stage.show(film, to: writer)
        #expect(stage.names.count == 4 && stage.names.allSatisfy { $0.begin < 1_700_000_100_000 })
        stage.clock.withLock { clock in
            clock.wall = 1_800_000_000_000
            clock.isRight = true
        }
        stage.show(film.later(by: MediaTime(milliseconds: 10_000)), to: writer)
        writer.end()
        let names = stage.names.sorted { $0.sequence < $1.sequence }
        #expect(names.map(\.sequence) == Array(1...10))
        for (name, next) in zip(names, names.dropFirst()) { #expect(abs(next.begin - name.end) < 100) }
        #expect(names.allSatisfy { $0.begin >= 1_800_000_000_000 })
    }

    @Test func `a source without another key frame pushes out no more than a part of what there is`() throws {
        let stage = try RecordingStage()
        var settings = stage.settings(maxBytes: 6_000_000, length: 1000)
        settings.maxFragment = 100_000
        let writer = try stage.writer(settings)
        let film = try Film.pattern(seconds: 5, hasAudio: false)
        stage.show(film, to: writer)
        let before = stage.names.count
        let key = try #require(film.video.first)
        var endless = [MediaEvent.accessUnit(key)]
        for number in 1..<4000 {
            var unit = film.video[1]
            unit.decodeTime = key.decodeTime + MediaTime(milliseconds: Int64(number) * 40)
            unit.presentationTime = unit.decodeTime
            unit.data = [UInt8](repeating: 7, count: 2000)
            endless.append(.accessUnit(unit))
        }
        stage.show(endless.later(by: MediaTime(milliseconds: 5000)), to: writer)
        #expect(writer.open == nil && writer.statistics.code != .recordingFailed)
        #expect(stage.names.count >= before, "what was before is there")
        writer.end()
    }

    @Test func `a disk that took long is no silence of the camera`() throws {
        let stage = try RecordingStage()
        let isSlow = Mutex(true)
        var system = stage.system
        system.free = { _ in
            let waits = isSlow.withLock { isSlow in
                defer { isSlow = false }
                return isSlow
            }
            if waits { stage.pass(seconds: 16) }
            return 1 << 40
        }
        let writer = RecordingWriter(stage.settings(length: 60_000), system: system)
        writer.recipient = try RecordingStage.recipient()
        writer.start()
        let film = try Film.pattern(seconds: 3, hasAudio: false)
        // The key frame alone woke the writer; the others came while it waited for the disk.
        stage.show(Array(film.prefix(2)), to: writer)
        writer.tick()
        stage.show(Array(film.dropFirst(2)), to: writer)
        writer.end()
        let isWhole = try stage.frames().map(\.data) == film.video.map(\.data)
        #expect(isWhole && stage.names.count == 1, "\(stage.files)")
    }

    @Test func `on a disk that stays full nothing is recorded, and that is not begun again and again`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer(stage.settings(minFree: 100_000_000, length: 1000))
        stage.show(film, to: writer)
        #expect(writer.statistics.state == .recording && stage.names.count > 5)
        stage.clock.withLock { $0.free = 50_000_000 }
        var states: [RecordingStatistics.State] = []
        for turn in 1...6 {
            stage.show(film.later(by: MediaTime(milliseconds: Int64(turn) * 10_000)), to: writer)
            states.append(writer.statistics.state)
        }
        #expect(stage.files == [])
        #expect(states.suffix(4).allSatisfy { $0 == .failing }, "\(states)")
        let deleted = writer.statistics.deletedFiles
        stage.clock.withLock { $0.free = 101_000_000 }
        stage.show(film.later(by: MediaTime(milliseconds: 70_000)), to: writer)
        #expect(writer.statistics.state == .failing, "as much as it would have to give back at once is no room")
        stage.clock.withLock { $0.free = 200_000_000 }
        stage.pass(seconds: 60)
        stage.show(film.later(by: MediaTime(milliseconds: 140_000)), to: writer)
        #expect(writer.statistics.state == .recording && writer.statistics.deletedFiles == deleted)
        writer.end()
    }

    @Test func `a disk that loses what it had taken is read again before anything gets a name`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 5)
        let writer = try stage.writer(stage.settings(length: 60_000))
        // A group of pictures was written after the last flush.
        let shown = film.filter { event in
            guard case .accessUnit(let unit) = event else { return true }
            return unit.decodeTime < MediaTime(milliseconds: 3300)
        }
        stage.show(shown, to: writer)
        #expect(writer.open?.isDirty == true)
        stage.pass(seconds: 2)
        // Once, as the kernel tells it.
        let isTold = Mutex(false)
        FileSteps.$witness.withValue({ step, _ in
            guard step == .fsync, !isTold.withLock({ $0 }) else { return nil }
            isTold.withLock { $0 = true }
            return EIO
        }) { writer.tick() }
        #expect(isTold.withLock { $0 } && writer.statistics.state == .failing)
        #expect(stage.names == [] && stage.files.count == 2, "left as it is")
        stage.pass(seconds: 60)
        writer.tick()
        #expect(stage.names.count == 1 && stage.files.count == 1)
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.prefix(75).map(\.data))
        writer.end()
    }

    @Test func `one file that cannot be deleted is passed over, and a disk that deletes nothing is a fault`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let before = try stage.writer(stage.settings(length: 1000))
        stage.show(film, to: before)
        before.end()
        let oldest = try #require(stage.names.min { $0.sequence < $1.sequence })
        let path = RecordingDirectory(stage.directory).path(of: oldest)
        let writer = try stage.writer(stage.settings(maxBytes: Int64(film.size / 2), length: 1000))
        FileSteps.$witness.withValue({ $0 == .unlink && $1 == path ? EBUSY : nil }) { writer.tick() }
        #expect(stage.names.contains(oldest) && stage.names.count > 1 && stage.names.count < 10)
        #expect(writer.stuck == [oldest.sequence] && writer.fault == nil)
        // It is tried again, and nothing is told of it then.
        stage.pass(seconds: 3601)
        writer.tick()
        #expect(writer.stuck == [] && writer.stuckReason == nil)
        FileSteps.$witness.withValue({ step, _ in step == .unlink ? EROFS : nil }) {
            let small = RecordingWriter(stage.settings(maxBytes: 1), system: stage.system)
            writer.end()
            small.start()
            small.tick()
            #expect(small.stuck == [] && small.statistics.state == .failing)
        }
        #expect(!stage.names.isEmpty)
    }

    @Test func `audio alone is no sign of life of a camera`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 20)
        let writer = try stage.writer(stage.settings(length: 60_000))
        let still = film.filter { event in
            guard case .accessUnit(let unit) = event, unit.track.isVideo else { return true }
            return unit.decodeTime < MediaTime(milliseconds: 4000)
        }
        stage.show(still, to: writer)
        #expect(writer.open == nil && stage.names.count == 1)
        writer.end()
    }

    @Test func `a camera that gives no frame for long is told`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer()
        stage.pass(seconds: 29)
        writer.tick()
        #expect(writer.statistics.state == .waitingForFrames && writer.statistics.code == nil)
        stage.pass(seconds: 2)
        writer.tick()
        #expect(writer.statistics.code == .noFrames)
        stage.show(try Film.pattern(seconds: 2), to: writer)
        writer.tick()
        #expect(writer.statistics.state == .recording && writer.statistics.code == nil)
        writer.end()
    }

    @Test func `names and sizes that no recorder makes trap nothing`() throws {
        let stage = try RecordingStage()
        for sequence in ["18446744073709551614", "999999999999", "00000001"] {
            let path = "\(stage.directory)/\(sequence)-20270115T080000000Z-1000.tdf"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            #expect(truncate(path, Int.max) == 0 || truncate(path, 1 << 42) == 0)
        }
        let writer = try stage.writer(stage.settings(maxAge: .max))
        stage.show(try Film.pattern(seconds: 2), to: writer)
        writer.end()
        #expect(try stage.frames(of: try #require(stage.names.last { $0.sequence == 2 })).count > 0)
    }
}
