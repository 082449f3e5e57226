import CameraModel
import ErrorCatalog
import Testing

@testable import BoxView

struct RecordingViewTests {
    @Test func `recordings are a table, and what is wrong stands below it`() {
        var good = RecordingStatistics()
        good.state = .recording
        good.files = 1200
        good.bytes = 7_960_000_000
        good.oldest = 1_800_000_000_000
        good.seconds = 3600
        good.writtenBytes = 500_000_000
        good.recoveryKey = "sha256//abc="
        var bad = RecordingStatistics()
        bad.state = .failing
        bad.reason = "No space left\non device"
        bad.code = .recordingFailed
        bad.droppedFrames = 75
        bad.pinnedBytes = 5_000_000
        bad.bytes = 5_000_000
        let lines = RecordingView.lines(
            [("front", true, good), ("yard", true, bad), ("old", false, nil), ("new", true, nil)],
            now: 1_800_000_300_000, style: Style(hasColor: false, width: Style.endless))
        #expect(
            lines == [
                "CAMERA  RECORDING  FILES    SIZE  PINNED  SINCE                   A DAY  LOST",
                "front   on          1200  8.0 GB     0 B  2027-01-15 08:00:00Z  12.0 GB     0",
                "yard    fails          0  5.0 MB  5.0 MB  -                           -    75",
                "old     off",
                "new     not yet",
                "4 cameras",
                "front: opens with the recovery key sha256//abc= as well",
                "yard: No space left\\non device (WB-3009)",
                "    Run: watchboxctl recording status yard",
            ])
    }

    @Test func `numbers that a broken process reports are shown as none`() {
        var recording = RecordingStatistics()
        recording.seconds = 1e-300
        recording.writtenBytes = .max
        recording.oldest = .min
        recording.bytes = .max
        let lines = RecordingView.lines(
            [("front", true, recording)], now: 0, style: Style(hasColor: false, width: Style.endless))
        #expect(lines.count == 3)
    }

    @Test func `a camera that waits for an event says which was the last one`() {
        var recording = RecordingStatistics()
        recording.state = .waitingForEvent
        let style = Style(hasColor: false, width: Style.endless)
        #expect(
            RecordingView.lines([("front", true, recording)], now: 0, style: style)[1].hasPrefix(
                "front   waits for an event"))
        recording.causes = [.motion, .tamper, .digitalInput, .mark, .schedule]
        #expect(RecordingView.line(recording, camera: "front").hasPrefix("waits for an event;"))
        recording.causes = [.mark, .schedule]
        #expect(RecordingView.line(recording, camera: "front").hasPrefix("waits for its schedule or a mark;"))
        recording.lastEvent = .init(cause: .motion, time: 1_800_000_000_000)
        let lines = RecordingView.lines([("front", true, recording)], now: 1_800_000_180_000, style: style)
        #expect(lines.last == "front: last event 3m 00s ago: motion")
        recording.lastEvent?.time = .min
        #expect(
            RecordingView.lines([("front", true, recording)], now: .max, style: style).last
                == "front: last event -: motion")
    }
}
