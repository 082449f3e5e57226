import Archive
import CameraModel
import ErrorCatalog
import Foundation
import KeyAccessClient
import Media
import ServiceLifecycle
import Synchronization
import TDF
import TestSupport
import Testing

@testable import Recording

@Suite(.timeLimit(.minutes(5))) struct RecorderTests {
    @Test func `a recorder writes what it sees, and its end is the source's`() async throws {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let recorder = Recorder(stage.settings(), keys: { () async throws(KeyAccessError) in recipient })
        let run = Task { try await recorder.run() }
        while recorder.statistics.state == .waitingForKey { try await Task.sleep(for: .milliseconds(20)) }
        let film = try Film.pattern(seconds: 7)
        for event in film { recorder.observed(event) }
        recorder.ended()
        while recorder.statistics.state != .stopped { try await Task.sleep(for: .milliseconds(20)) }
        run.cancel()
        try await run.value
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        #expect(stage.names.map(\.sequence) == [1, 2, 3])
    }

    @Test func `stopped without a word of its source, it ends what grows`() async throws {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let recorder = Recorder(stage.settings(), keys: { () async throws(KeyAccessError) in recipient })
        recorder.published(true, from: 0)
        let run = Task { try await recorder.run() }
        while recorder.statistics.state == .waitingForKey { try await Task.sleep(for: .milliseconds(20)) }
        let film = try Film.pattern(seconds: 2)
        for event in film { recorder.observed(event) }
        while recorder.statistics.state != .recording { try await Task.sleep(for: .milliseconds(20)) }
        run.cancel()
        try await run.value
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data))
        #expect(stage.files.count == 1)
    }

    @Test func `a disk that does not answer is told, and what comes meanwhile is counted`() async throws {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let disk = DispatchSemaphore(value: 0)
        let isHanging = Mutex(false)
        var system = stage.system
        let asked = DispatchSemaphore(value: 0)
        system.free = { _ in
            if isHanging.withLock({ $0 }) {
                asked.signal()
                disk.wait()
            }
            return 1 << 40
        }
        let recorder = Recorder(
            stage.settings(), system: system, keys: { () async throws(KeyAccessError) in recipient })
        let run = Task { try await recorder.run() }
        while recorder.statistics.state == .waitingForKey { try await Task.sleep(for: .milliseconds(20)) }
        isHanging.withLock { $0 = true }
        let film = try Film.pattern(seconds: 5)
        for event in film { recorder.observed(event) }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                asked.wait()
                continuation.resume()
            }
        }
        #expect(recorder.statistics.state != .failing)
        stage.pass(seconds: 16)
        #expect(recorder.statistics.state == .failing && recorder.statistics.code == .recordingFailed)
        #expect(recorder.statistics.reason?.contains("has not answered") == true)
        isHanging.withLock { $0 = false }
        for _ in 0..<100 { disk.signal() }
        recorder.ended()
        while recorder.statistics.state != .stopped { try await Task.sleep(for: .milliseconds(20)) }
        run.cancel()
        try await run.value
        let isWhole = try stage.frames().filter(\.track.isVideo).map(\.data) == film.video.map(\.data)
        #expect(isWhole, "\(recorder.statistics), \(stage.files)")
    }

    @Test func `a KAS that is away is asked again, and its reason is told`() async throws {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let isThere = Mutex(false)
        let recorder = Recorder(
            stage.settings(),
            keys: { () async throws(KeyAccessError) in
                guard isThere.withLock({ $0 }) else { throw .status(503, message: "later") }
                return recipient
            })
        let run = Task { try await recorder.run() }
        while recorder.statistics.reason == nil { try await Task.sleep(for: .milliseconds(20)) }
        #expect(recorder.statistics.state == .waitingForKey && recorder.statistics.code == .noKey)
        isThere.withLock { $0 = true }
        while recorder.statistics.state == .waitingForKey { try await Task.sleep(for: .milliseconds(50)) }
        run.cancel()
        try await run.value
        #expect(stage.files == [])
    }
}
