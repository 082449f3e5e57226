import Media
import Testing

@testable import CameraPipeline

@Suite struct StreamTimelineTests {
    private func unit(dts: MediaTime, pts: MediaTime? = nil, video: Bool = true) -> AccessUnit {
        AccessUnit(
            track: video ? .video(.h264) : .audio(.aac), isKeyFrame: true, presentationTime: pts ?? dts,
            decodeTime: dts, data: [])
    }

    private func timestamps(_ units: [AccessUnit]) -> [UInt32] {
        var timeline = StreamTimeline()
        return units.map { unit in
            let place = timeline.place(unit)
            timeline.commit(place, isVideo: unit.track.isVideo)
            return place.timestamp
        }
    }

    @Test func `audio and video have one zero, that of the first unit`() {
        let units = [
            unit(dts: MediaTime(milliseconds: 90_000), video: false), unit(dts: MediaTime(milliseconds: 90_021)),
            unit(dts: MediaTime(milliseconds: 90_042), video: false),
        ]
        #expect(timestamps(units) == [0, 21, 42])
    }

    @Test func `a unit before the zero is held back to it, and its frame keeps its time`() {
        var timeline = StreamTimeline()
        timeline.commit(timeline.place(unit(dts: MediaTime(milliseconds: 100), video: false)), isVideo: false)
        let place = timeline.place(
            unit(dts: MediaTime(milliseconds: 60), pts: MediaTime(milliseconds: 140)))
        #expect(place.timestamp == 0)
        #expect(place.compositionTime == 40)
    }

    @Test func `time never goes back within a medium, nor for the other one's sake`() {
        let units = [
            unit(dts: MediaTime(milliseconds: 0)), unit(dts: MediaTime(milliseconds: 80)),
            unit(dts: MediaTime(milliseconds: 40)), unit(dts: MediaTime(milliseconds: 20), video: false),
            unit(dts: MediaTime(milliseconds: 120)),
        ]
        #expect(timestamps(units) == [0, 80, 80, 20, 120])
    }

    @Test func `rounding does not add up: a hundred thousand frames of 1001/30000 s end where they should`() {
        var timeline = StreamTimeline()
        var steps: Set<UInt32> = []
        var last: UInt32 = 0
        for frame in Int64(0)...100_000 {
            let place = timeline.place(unit(dts: MediaTime(ticks: frame * 1001, timescale: 30_000)))
            timeline.commit(place, isVideo: true)
            if frame > 0 { steps.insert(place.timestamp - last) }
            last = place.timestamp
        }
        #expect(last == 3_336_667)
        #expect(steps == [33, 34])
    }

    @Test(arguments: [(16_777_214, 0xFF_FFFE), (4_294_967_295, 0xFFFF_FFFF), (4_294_967_317, 21)] as [(Int64, UInt32)])
    func `time passes 2^24 and wraps at 2^32 milliseconds`(milliseconds: Int64, timestamp: UInt32) {
        let units = [unit(dts: .zero), unit(dts: MediaTime(milliseconds: milliseconds))]
        #expect(timestamps(units) == [0, timestamp])
    }

    @Test func `composition times are signed and stay within 24 bits`() {
        let timeline = StreamTimeline()
        func composition(_ pts: Int64) -> Int32 {
            timeline.place(unit(dts: .zero, pts: MediaTime(milliseconds: pts))).compositionTime
        }
        #expect(composition(80) == 80)
        #expect(composition(-40) == -40)
        #expect(composition(100_000_000) == 0x7F_FFFF)
        #expect(composition(-100_000_000) == -0x80_0000)
    }

    @Test func `times from the ends of the range do not trap`() {
        var timeline = StreamTimeline()
        for time in [Int64.min, .max, 0, .min, .max] {
            for other in [Int64.max, .min] {
                let place = timeline.place(
                    unit(dts: MediaTime(nanoseconds: time), pts: MediaTime(nanoseconds: other)))
                timeline.commit(place, isVideo: true)
            }
        }
    }
}
