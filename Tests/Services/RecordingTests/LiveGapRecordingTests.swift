import Archive
import Foundation
import Media
import Synchronization
import Testing

@testable import Recording

/// What a relay missed is in the recording, and what it was is written beside it.
struct LiveGapRecordingTests {
    private static func listing(_ stage: RecordingStage) throws -> RecordedListing {
        try RecordingDirectory(stage.directory).look().listing(between: .all)
    }

    @Test func `an outage is known afterwards, over a start and a kill`() throws {
        let stage = try RecordingStage()
        let begin = stage.clock.withLock { $0.monotonic }
        let wall = stage.clock.withLock { $0.wall }
        let second: UInt64 = 1_000_000_000
        let film = try Film.pattern(seconds: 30)
        let writer = try stage.writer()
        var shown = 0
        func show(to end: Int) {
            let units = film.indices.filter { index in
                guard case .accessUnit(let unit) = film[index] else { return true }
                return unit.decodeTime < MediaTime(milliseconds: Int64(end) * 1000)
            }
            let next = (units.last ?? -1) + 1
            stage.show(Array(film[shown..<max(shown, next)]), to: writer)
            shown = max(shown, next)
        }
        show(to: 15)
        // Known three seconds after the last that the relay had read.
        writer.live.published(false, from: begin + 12 * second)
        show(to: 20)
        writer.live.published(true, from: begin + 20 * second)
        show(to: 30)
        let before = try Self.listing(stage)
        // Written while it records, and not at the end alone.
        #expect(before.liveGaps == [LiveGap(from: wall + 12_000, to: wall + 20_000)])
        writer.live.published(false, from: begin + 27 * second)
        // Ended while no relay is there: when that is over is not known.
        writer.end()
        let listing = try Self.listing(stage)
        #expect(listing.liveGaps.count == 2 && listing.liveGaps.last?.to == nil)
        let notLive = NotLive(RecordingSpans(listing.recordings).spans, listing.liveGaps).parts
        #expect(notLive.map(\.from) == [wall + 12_000, wall + 27_000] && notLive[0].to == wall + 20_000)
        // Another process, a minute later, that finds a relay at once.
        stage.clock.withLock { $0.monotonic = begin + 90 * second }
        let next = try stage.writer()
        next.tick()
        #expect(
            try Self.listing(stage).liveGaps == [
                LiveGap(from: wall + 12_000, to: wall + 20_000), LiveGap(from: wall + 27_000, to: wall + 90_000),
            ])
        next.end()
    }

    @Test func `a relay that comes and goes is not written down each time, and without recordings nothing is`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer()
        let path = "\(stage.directory)/live-gaps.json"
        func change(_ isLive: Bool, after seconds: Double) {
            stage.pass(seconds: seconds)
            writer.live.published(isLive, from: stage.clock.withLock { $0.monotonic })
            writer.tick()
        }
        change(false, after: 1)
        change(true, after: 20)
        #expect(!FileManager.default.fileExists(atPath: path))
        stage.show(try Film.pattern(seconds: 4), to: writer)
        #expect(!FileManager.default.fileExists(atPath: path))
        change(false, after: 1)
        #expect(!FileManager.default.fileExists(atPath: path))
        change(true, after: 3)
        let first = RecordingDirectory(stage.directory).liveGaps()
        #expect(first.count == 1)
        for _ in 0..<2 {
            change(false, after: 1.5)
            change(true, after: 2.5)
        }
        #expect(RecordingDirectory(stage.directory).liveGaps() == first)
        change(false, after: 1.5)
        change(true, after: 3)
        #expect(RecordingDirectory(stage.directory).liveGaps() != first)
        writer.end()
    }

    @Test func `a recording of a clock that was ahead hides no gap`() throws {
        let stage = try RecordingStage()
        let ahead = stage.clock.withLock { $0.wall } + 31_536_000_000
        let name = RecordingName(sequence: 1, begin: ahead, duration: 1000)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(stage.directory)/\(name.fileName)"))
        let writer = try stage.writer()
        stage.show(try Film.pattern(seconds: 7), to: writer)
        writer.live.published(false, from: stage.clock.withLock { $0.monotonic })
        stage.pass(seconds: 5)
        writer.live.published(true, from: stage.clock.withLock { $0.monotonic })
        writer.tick()
        #expect(RecordingDirectory(stage.directory).liveGaps().count == 1)
        writer.end()
    }

    @Test func `clocks that are read one after the other are no reason to write`() throws {
        let stage = try RecordingStage()
        let writer = try stage.writer()
        stage.show(try Film.pattern(seconds: 4), to: writer)
        writer.live.published(false, from: stage.clock.withLock { $0.monotonic })
        stage.pass(seconds: 5)
        writer.live.published(true, from: stage.clock.withLock { $0.monotonic })
        writer.tick()
        let kept = RecordingDirectory(stage.directory).liveGaps()
        let path = "\(stage.directory)/live-gaps.json"
        try FileManager.default.removeItem(atPath: path)
        stage.clock.withLock { $0.wall += 3 }
        stage.pass(seconds: 20)
        writer.live.clockChanged()
        writer.tick()
        #expect(!FileManager.default.fileExists(atPath: path))
        stage.clock.withLock { $0.wall += 5000 }
        writer.live.clockChanged()
        writer.tick()
        #expect(RecordingDirectory(stage.directory).liveGaps().map(\.from) == kept.map { $0.from + 5003 })
        writer.end()
    }

    @Test(arguments: ["link", "FIFO", "directory"])
    func `what is no plain file is not opened`(kind: String) throws {
        let stage = try RecordingStage()
        let path = "\(stage.directory)/live-gaps.json"
        switch kind {
        case "link":
            let other = NSTemporaryDirectory() + "watchbox-gaps-" + UUID().uuidString
            try Data(#"{"schema":"watchbox.live-gaps/1","gaps":[{"from":1,"to":2}]}"#.utf8)
                .write(to: URL(fileURLWithPath: other))
            #expect(symlink(other, path) == 0)
        case "FIFO": #expect(mkfifo(path, 0o600) == 0)
        default: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(RecordingDirectory(stage.directory).liveGaps() == [])
    }

    @Test(arguments: [
        "", "{", "[]", "{\"gaps\":7}", "{\"schema\":\"x\",\"gaps\":[{\"from\":\"a\"}]}",
        "{\"schema\":\"x\",\"gaps\":[{\"from\":-1,\"to\":5},{\"from\":9,\"to\":9},{\"from\":9,\"to\":9223372036854775807}]}",
        "{\"schema\":\"watchbox.live-gaps/2\",\"gaps\":[{\"from\":1,\"to\":9}]}",
        "{\"schema\":\"watchbox.live-gaps/1\",\"gaps\":[{\"from\":-1,\"to\":5},{\"from\":9,\"to\":9},{\"from\":9,\"to\":9223372036854775807}]}",
    ])
    func `a file that is none says nothing, and is written anew`(text: String) throws {
        let stage = try RecordingStage()
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(stage.directory)/live-gaps.json"))
        #expect(RecordingDirectory(stage.directory).liveGaps() == [])
        let writer = try stage.writer()
        stage.show(try Film.pattern(seconds: 4), to: writer)
        writer.live.published(false, from: stage.clock.withLock { $0.monotonic })
        stage.pass(seconds: 3)
        writer.tick()
        #expect(RecordingDirectory(stage.directory).liveGaps().count == 1)
        writer.end()
    }
}
