import Archive
import CameraModel
import ErrorCatalog
import Foundation
import Media
import Testing

@testable import Recording

/// With file systems of their own.
@Suite(.enabled(if: SmallDisk.isPossible, "no file system may be mounted here"))
struct FullDiskTests {
    @Test func `a recording that cannot be deleted stays, and the next one goes in its place`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 10)
        let before = try stage.writer(stage.settings(length: 1000))
        stage.show(film, to: before)
        before.end()
        let oldest = try #require(stage.names.first)
        // What something is mounted on cannot be unlinked.
        let path = "\(stage.directory)/\(oldest.fileName)"
        #expect(SmallDisk.bind(path))
        defer { SmallDisk.unmount(path) }
        let writer = try stage.writer(stage.settings(maxBytes: Int64(film.size / 2), length: 1000))
        stage.pass(seconds: 5)
        stage.show(film.later(by: MediaTime(milliseconds: 100_000)), to: writer)
        #expect(stage.names.first == oldest && stage.names.count > 1)
        #expect(writer.statistics.state == .recording && writer.statistics.code == .writeFailed)
        #expect(writer.statistics.reason?.contains("cannot be deleted") == true)
        writer.end()
    }

    @Test func `a disk that is really full has its oldest recordings go, and the newest frames are there`() throws {
        let stage = try RecordingStage()
        let disk = try #require(SmallDisk(at: stage.directory, bytes: 1 << 20))
        defer { disk.unmount() }
        let film = try Film.pattern(seconds: 10)
        let writer = try stage.writer(stage.settings(length: 1000))
        for turn in 0..<6 {
            stage.show(film.later(by: MediaTime(milliseconds: Int64(turn) * 10_000)), to: writer)
        }
        #expect(writer.statistics.deletedFiles > 0)
        #expect(writer.statistics.code == .recordingShortened && writer.statistics.state == .recording)
        writer.end()
        #expect(stage.files.count == stage.names.count, "nothing half-written is left: \(stage.files)")
        let frames = try stage.frames().filter(\.track.isVideo).map(\.data)
        let all = (0..<6).flatMap { _ in film.video.map(\.data) }
        #expect(frames.count >= 25 && frames == all.suffix(frames.count))
    }
}
