import CameraModel
import ErrorCatalog
import Foundation
import Glibc
import KeyAccessClient
import Media
import Platform
import Synchronization
import TDF
import Testing

@testable import Archive
@testable import Recording

/// Recorders of cameras that are recorded around events, with the real writer.
@Suite(.timeLimit(.minutes(5))) struct EventRecordingTests {
    private static let after: UInt64 = 4_000_000_000

    private static func occasions(before: Double, _ schedule: [WeekSpan] = []) -> RecordingWriter.Occasions {
        .init(CameraConfiguration.Recording.Occasions(before: before, after: 4, schedule: schedule))
    }

    private static func recorder(
        _ stage: RecordingStage, before: Double = 10, length: Int64 = 60_000, schedule: [WeekSpan] = []
    ) throws -> Recorder {
        let recipient = try RecordingStage.recipient()
        return Recorder(
            stage.settings(length: length, occasions: occasions(before: before, schedule)), system: stage.system,
            keys: { () async throws(KeyAccessError) in recipient })
    }

    /// As captured now, whenever the recorder looks at them.
    private static func show(_ events: [MediaEvent], to recorder: Recorder, _ stage: RecordingStage) {
        let now = stage.clock.withLock { $0.monotonic }
        for event in events {
            guard case .accessUnit(var unit) = event else {
                recorder.observed(event)
                continue
            }
            unit.captureInstant = now
            recorder.observed(.accessUnit(unit))
        }
    }

    private static func wait(_ recorder: Recorder, _ state: RecordingStatistics.State) async throws {
        while recorder.statistics.state != state { try await Task.sleep(for: .milliseconds(10)) }
    }

    private static func end(_ recorder: Recorder, _ run: Task<Void, any Error>) async throws {
        recorder.ended()
        try await wait(recorder, .stopped)
        run.cancel()
        try await run.value
    }

    @Test func `nothing is written until there is an event, and then what was before it, named after its first frame`()
        async throws
    {
        let stage = try RecordingStage()
        let recorder = try Self.recorder(stage)
        let film = try Film.pattern(seconds: 7)
        let began = stage.clock.withLock { $0.wall + Int64($0.monotonic / 1_000_000) - 1_000_000 }
        for event in film { recorder.observed(event) }
        let run = Task { try await recorder.run() }
        try await Self.wait(recorder, .waitingForEvent)
        #expect(stage.names.isEmpty && !stage.files.contains { $0.hasSuffix(".part") })
        #expect(recorder.statistics.code == nil && recorder.statistics.reason == nil)
        #expect(recorder.statistics.lastEvent == nil && recorder.statistics.writtenBytes == 0)
        stage.pass(seconds: 8)
        recorder.mark()
        try await Self.wait(recorder, .recording)
        #expect(recorder.statistics.lastEvent?.cause == .mark)
        stage.pass(seconds: 3)
        let second = film.later(by: MediaTime(milliseconds: 7000))
        Self.show(second, to: recorder, stage)
        stage.pass(seconds: 2)
        Self.show(film.later(by: MediaTime(milliseconds: 14_000)), to: recorder, stage)
        try await Self.wait(recorder, .waitingForEvent)
        #expect(recorder.statistics.droppedFrames == 0)
        #expect(stage.names.count == 1 && stage.files.allSatisfy { !$0.hasSuffix(".part") }, "\(stage.files)")
        #expect(abs((stage.names.first?.begin ?? 0) - began) < 100, "\(stage.names)")
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == (film + second).video.map(\.data))
        try await Self.end(recorder, run)
        #expect(stage.names.count == 1)
    }

    @Test func `motion is recorded for as long as it lasts`() async throws {
        let stage = try RecordingStage()
        let recorder = try Self.recorder(stage)
        let film = try Film.pattern(seconds: 2)
        let run = Task { try await recorder.run() }
        for event in film { recorder.observed(event) }
        try await Self.wait(recorder, .waitingForEvent)
        recorder.sensed(SensorEvent(kind: .motion, isActive: true, source: "1"))
        try await Self.wait(recorder, .recording)
        #expect(recorder.statistics.lastEvent?.cause == .motion)
        stage.pass(seconds: 100)
        Self.show(film.later(by: MediaTime(milliseconds: 2000)), to: recorder, stage)
        // Written up to the second key frame of these: none of the first ended it.
        while recorder.statistics.frames < 75 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(recorder.statistics.state == .recording && stage.names.isEmpty)
        recorder.sensed(SensorEvent(kind: .motion, isActive: false, source: "1"))
        stage.pass(seconds: 5)
        Self.show(film.later(by: MediaTime(milliseconds: 4000)), to: recorder, stage)
        try await Self.wait(recorder, .waitingForEvent)
        try await Self.end(recorder, run)
        #expect(try stage.frames().filter(\.track.isVideo).count == 100)
        #expect(recorder.statistics.droppedFrames == 0)
    }

    @Test func `a schedule is recorded whole, and while nobody vouches for the time all is`() async throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 2)
        let schedule = [try WeekSpan("tue 08:00-12:00")]
        stage.clock.withLock { clock in
            clock.isRight = false
            clock.week = (day: 1, minute: 720)
        }
        let recorder = try Self.recorder(stage, schedule: schedule)
        let run = Task { try await recorder.run() }
        for event in film { recorder.observed(event) }
        try await Self.wait(recorder, .recording)
        #expect(recorder.statistics.lastEvent?.cause == .schedule)
        stage.clock.withLock { $0.isRight = true }
        var begin = Int64(2000)
        while recorder.statistics.state == .recording {
            Self.show(film.later(by: MediaTime(milliseconds: begin)), to: recorder, stage)
            begin += 2000
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(recorder.statistics.state == .waitingForEvent)
        stage.clock.withLock { $0.week = (day: 1, minute: 480) }
        try await Self.wait(recorder, .recording)
        try await Self.end(recorder, run)
        #expect(stage.names.count == 2 && recorder.statistics.droppedFrames == 0)
    }

    @Test func `an event that comes before there is a key says so, and what comes is lost without one`() async throws {
        let stage = try RecordingStage()
        let recorder = Recorder(
            stage.settings(occasions: Self.occasions(before: 10)), system: stage.system,
            keys: { () async throws(KeyAccessError) in throw .status(503, message: "later") })
        let run = Task { try await recorder.run() }
        recorder.mark()
        for event in try Film.pattern(seconds: 2) { recorder.observed(event) }
        while recorder.statistics.lastEvent == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(recorder.statistics.state == .waitingForKey)
        try await Self.end(recorder, run)
        #expect(stage.names.isEmpty && recorder.statistics.droppedFrames >= 50)
    }

    @Test func `what happens before there is a key waits for it in memory, whatever its age`() async throws {
        let stage = try RecordingStage()
        let recipient = try RecordingStage.recipient()
        let hasKey = Mutex(false)
        let recorder = Recorder(
            stage.settings(length: 60_000, occasions: Self.occasions(before: 1)), system: stage.system,
            keys: { () async throws(KeyAccessError) in
                while !Task.isCancelled, !hasKey.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(10)) }
                return recipient
            })
        let film = try Film.pattern(seconds: 2)
        let run = Task { try await recorder.run() }
        recorder.sensed(SensorEvent(kind: .motion, isActive: true))
        while recorder.statistics.lastEvent == nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(recorder.statistics.causes == [.motion, .tamper, .digitalInput, .mark])
        Self.show(film, to: recorder, stage)
        // Seen by the writer: it counts the time from there.
        while recorder.statistics.seconds == 0 { try await Task.sleep(for: .milliseconds(10)) }
        stage.pass(seconds: 20)
        let second = film.later(by: MediaTime(milliseconds: 2000))
        Self.show(second, to: recorder, stage)
        #expect(stage.names.isEmpty && recorder.statistics.state == .waitingForKey)
        hasKey.withLock { $0 = true }
        try await Self.wait(recorder, .recording)
        try await Self.end(recorder, run)
        #expect(recorder.statistics.droppedFrames == 0)
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == (film + second).video.map(\.data))
    }

    @Test func `a recorder of all the time has nothing to mark`() async throws {
        let stage = try RecordingStage()
        let keys: @Sendable () async throws(KeyAccessError) -> TDFRecipient = { () async throws(KeyAccessError) in
            throw .status(503, message: "later")
        }
        #expect(!Recorder(stage.settings(), keys: keys).mark(for: .seconds(1e9)))
        #expect(Recorder(stage.settings(occasions: Self.occasions(before: 1)), keys: keys).mark(for: .seconds(1e9)))
    }

    @Test func `while nothing is recorded a fault is told before it costs an event, and while it lasts`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer(stage.settings(minFree: 1 << 30))
        let film = try Film.pattern(seconds: 1)
        func pass(_ seconds: Double) {
            stage.pass(seconds: seconds)
            for event in film { writer.hold(event) }
            writer.tick()
        }
        pass(1)
        #expect(writer.statistics.state == .waitingForEvent && writer.canBegin)
        stage.clock.withLock { $0.free = 0 }
        pass(1)
        #expect(writer.statistics.state == .failing && writer.statistics.code == .recordingFailed && !writer.canBegin)
        stage.clock.withLock { $0.free = 1 << 40 }
        pass(1)
        #expect(writer.statistics.state == .failing, "it is not looked at each time")
        pass(2)
        #expect(writer.statistics.state == .waitingForEvent && writer.canBegin)
    }

    @Test func `a disk that does not take anything is told for as long as it does not`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer(stage.settings())
        let film = try Film.pattern(seconds: 1)
        writer.fault = .archive(.output(FileFailure(call: "pwrite", path: stage.directory, number: EROFS)))
        writer.hold(film[0])
        // Not even for root is there a way to write over that.
        mkdir("\(stage.directory)/.probe", 0o700)
        mkdir("\(stage.directory)/.probe/x", 0o700)
        stage.pass(seconds: 3)
        writer.tick()
        #expect(writer.statistics.state == .failing && !writer.canBegin, "\(writer.statistics)")
        rmdir("\(stage.directory)/.probe/x")
        rmdir("\(stage.directory)/.probe")
        stage.pass(seconds: 10)
        writer.tick()
        #expect(writer.statistics.state == .waitingForEvent && writer.canBegin, "\(writer.statistics)")
        #expect(stage.files == [])
    }

    @Test func `that all there is is pinned is told while nothing is recorded, until it is not`() throws {
        let stage = try RecordingStage()
        let film = try Film.pattern(seconds: 4)
        let before = try stage.writer()
        stage.show(film, to: before)
        before.end()
        try stage.pin(true)
        let writer = try stage.writer(stage.settings(maxBytes: 10_000))
        func pass() {
            stage.pass(seconds: 3)
            for event in film { writer.hold(event) }
            writer.tick()
        }
        pass()
        #expect(writer.statistics.state == .failing && writer.statistics.reason?.contains("pinned") == true)
        try stage.pin(false)
        pass()
        #expect(writer.statistics.state == .waitingForEvent && writer.canBegin, "\(writer.statistics)")
    }

    /// Frame by frame, as they come.
    @Test func `a recording begins no earlier than a group of pictures before what was asked for, and ends as late`()
        throws
    {
        let stage = try RecordingStage()
        let writer = try stage.writer(stage.settings(length: 60_000))
        let occasions = Self.occasions(before: 3)
        var selection = FrameSelection(occasions.preRoll)
        var gate = EventGate(occasions.gate)
        let film = try Film.pattern(seconds: 20)
        let begin = stage.clock.withLock { $0.monotonic }
        let first = try #require(film.video.first).decodeTime
        for event in film {
            if case .accessUnit(let unit) = event {
                let seconds = Double((unit.decodeTime - first).milliseconds) / 1000
                stage.clock.withLock { $0.monotonic = max($0.monotonic, begin + UInt64(max(0, seconds) * 1e9)) }
                if seconds >= 9.5, gate.last == nil { gate.mark(for: nil, at: stage.clock.withLock { $0.monotonic }) }
            }
            let now = stage.clock.withLock { $0.monotonic }
            var event = event
            switch selection.take(&event, at: now, canBegin: writer.canBegin, isOpen: gate.isOpen) {
            case .hold: writer.hold(event)
            case .begin: while let event = selection.next() { writer.take(event) }
            case .write: writer.take(event)
            case .pause(let next): writer.pause(before: next)
            }
            writer.tick()
        }
        #expect(writer.statistics.state == .waitingForEvent && writer.statistics.droppedFrames == 0)
        // Before: 6.5 s, whose group begins at 6 s. After: 13.5 s, whose group ends at 14 s.
        let expected = film.video.filter { (6000..<14_000).contains(($0.decodeTime - first).milliseconds) }
        #expect(try stage.frames().filter(\.track.isVideo).map(\.data) == expected.map(\.data))
        let name = try #require(stage.names.first)
        #expect(abs(Int64(name.duration) - 8000) < 100, "\(name)")
        let began = stage.clock.withLock { $0.wall } + Int64(begin / 1_000_000) - 1_000_000 + 6000
        #expect(abs(name.begin - began) < 100)
        #expect(try stage.frames().contains { !$0.track.isVideo })
    }

    @Test func `a camera that gives no frames while it waits is told`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer()
        for event in try Film.pattern(seconds: 1) { writer.hold(event) }
        writer.tick()
        #expect(writer.statistics.state == .waitingForEvent && writer.statistics.code == nil)
        stage.pass(seconds: 31)
        writer.tick()
        #expect(writer.statistics.state == .waitingForFrames && writer.statistics.code == .noFrames)
    }
}
