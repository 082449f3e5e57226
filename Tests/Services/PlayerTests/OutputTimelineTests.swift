import Media
import Testing

@testable import Player

struct OutputTimelineTests {
    private func unit(_ milliseconds: Int64, composition: Int64 = 0) -> AccessUnit {
        AccessUnit(
            track: .video(.h264), isKeyFrame: true,
            presentationTime: MediaTime(milliseconds: milliseconds + composition),
            decodeTime: MediaTime(milliseconds: milliseconds), data: [1])
    }

    @Test func `one source keeps its own time, composition included`() {
        var timeline = OutputTimeline()
        let placed = timeline.placed(unit(5000, composition: 80))
        #expect(placed.decodeTime.milliseconds == 5000)
        #expect(placed.presentationTime.milliseconds == 5080)
    }

    @Test(arguments: [0, 4000, 900_000] as [Int64])
    func `a source that came back goes on 40 ms behind the last unit`(start: Int64) {
        var timeline = OutputTimeline()
        _ = timeline.placed(unit(5000))
        timeline.sourceRestarted()
        #expect(timeline.placed(unit(start)).decodeTime.milliseconds == 5040)
        #expect(timeline.placed(unit(start + 40)).decodeTime.milliseconds == 5080)
    }

    @Test func `audio a little behind video keeps its place, a leap back is taken for a restart`() {
        var timeline = OutputTimeline()
        _ = timeline.placed(unit(5000))
        #expect(timeline.placed(unit(4500)).decodeTime.milliseconds == 4500)
        #expect(timeline.placed(unit(100)).decodeTime.milliseconds == 5040)
    }

    @Test func `times at the end of the range do not trap`() {
        var timeline = OutputTimeline()
        for nanoseconds in [Int64.max, .min, 0, .max] {
            var unit = unit(0)
            unit.decodeTime = MediaTime(nanoseconds: nanoseconds)
            _ = timeline.placed(unit)
            timeline.sourceRestarted()
        }
    }
}
