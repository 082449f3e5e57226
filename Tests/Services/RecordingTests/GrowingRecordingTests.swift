import CameraModel
import Foundation
import KeyAccessClient
import Media
import MediaFile
import Platform
import Synchronization
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import Archive
@testable import Recording

/// What a recorder is at is read beside it.
@Suite(.timeLimit(.minutes(5))) struct GrowingRecordingTests {
    @Test func `whenever one looks, what a recorder has written so far verifies and is the film up to there`()
        async throws
    {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let recorder = Recorder(stage.settings(length: 5000), keys: { () async throws(KeyAccessError) in recipient })
        recorder.published(true, from: 0)
        let run = Task { try await recorder.run() }
        while recorder.statistics.state == .waitingForKey { try await Task.sleep(for: .milliseconds(20)) }
        let film = try Film.pattern(seconds: 12)
        let directory = RecordingDirectory(stage.directory)
        var videoFrames = 0
        for event in film {
            recorder.observed(event)
            guard case .accessUnit(let unit) = event, unit.track.isVideo else { continue }
            defer { videoFrames += 1 }
            // Each recording has five seconds, and at a key frame all that came before it is written.
            let (recording, written) = videoFrames.quotientAndRemainder(dividingBy: 125)
            guard unit.isKeyFrame, written > 0 else { continue }
            var frames: [AccessUnit] = []
            while frames.count < written {
                // What is there meanwhile is whole in any case.
                guard let grown = try Self.grown(UInt64(recording) + 1, in: directory) else {
                    try await Task.sleep(for: .milliseconds(10))
                    continue
                }
                frames = try Self.frames(of: grown, in: stage)
                let first = recording * 125
                #expect(frames.map(\.data) == film.video[first..<(first + frames.count)].map(\.data))
                #expect(Int(grown.duration) == frames.count * 40)
            }
        }
        let directoryIsLocked = try directory.isWritten()
        #expect(directoryIsLocked, "the recorder has its lock")
        recorder.ended()
        while recorder.statistics.state != .stopped { try await Task.sleep(for: .milliseconds(20)) }
        run.cancel()
        try await run.value
        #expect(recorder.statistics.droppedFrames == 0)
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        #expect(stage.names.map(\.sequence) == [1, 2, 3] && stage.files.count == 3)
    }

    /// - Returns: nil when it has not begun yet.
    private static func grown(_ sequence: UInt64, in directory: RecordingDirectory) throws -> GrownArchive? {
        do throws(ArchiveError) { return try directory.grown(sequence) } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }

    private static func frames(of grown: GrownArchive, in stage: RecordingStage) throws -> [AccessUnit] {
        try grown.reader.verifyStructure()
        let key = try RecordingStage.key.archiveKey(from: grown.reader.manifest.encryptionInformation.keyAccess[0])
        var plaintext: [UInt8] = []
        try grown.reader.opened(key).read { (bytes) throws(ArchiveError) in plaintext += bytes }
        let film = "\(stage.directory)-film.mp4"
        defer { try? FileManager.default.removeItem(atPath: film) }
        try Data(plaintext).write(to: URL(filePath: film))
        let units = Mutex<[AccessUnit]>([])
        try MediaFileSource(MediaFileConfiguration(path: film, pace: .unthrottled)).run { event in
            if case .accessUnit(let unit) = event { units.withLock { $0.append(unit) } }
        }
        return units.withLock { $0 }.filter(\.track.isVideo)
    }
}
