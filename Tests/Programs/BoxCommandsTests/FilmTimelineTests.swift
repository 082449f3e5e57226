import Media
import Testing

@testable import BoxCommands

/// Recordings behind each other in one film.
struct FilmTimelineTests {
    /// A second of video at 25 frames per second, and of audio.
    private static func second(_ timeline: inout FilmTimeline, _ recording: Int64, seconds: Int = 1) -> [Int64] {
        let outcome1 = timeline.beginRecording(recording)
        #expect(outcome1)
        return (0..<(25 * seconds)).map { frame in
            _ = timeline.placed(unit(.audio(.aac), frame * 40))
            return timeline.placed(unit(.video(.h264), frame * 40)).decodeTime.milliseconds
        }
    }

    private static func unit(_ track: AccessUnit.Track, _ milliseconds: Int) -> AccessUnit {
        let time = MediaTime(milliseconds: Int64(milliseconds))
        return AccessUnit(track: track, isKeyFrame: true, presentationTime: time, decodeTime: time, data: [1])
    }

    @Test func `what goes on goes on, and follows the clock`() {
        var timeline = FilmTimeline()
        let outcome2 = Self.second(&timeline, 1_000_000)
        #expect(outcome2.last == 960)
        // Ten milliseconds too late, and then in time again.
        let outcome3 = Self.second(&timeline, 1_001_010)
        #expect(outcome3.first == 1010)
        let outcome4 = Self.second(&timeline, 1_002_000)
        #expect(outcome4.first == 2010, "no frame before the one that it follows")
        let outcome5 = Self.second(&timeline, 1_003_030)
        #expect(outcome5.first == 3030)
        #expect(timeline.seams == [])
        #expect(timeline.begin == 1_000_000 && timeline.end == 1_004_030)
        #expect(timeline.duration.milliseconds == 4030)
    }

    @Test func `sound that begins before the picture moves nothing, however many recordings there are`() {
        var timeline = FilmTimeline()
        let early = 40
        for recording in 0..<100 {
            let begin = Int64(recording) * 1000
            let hasRoom = timeline.beginRecording(1_000_000 + begin, lead: MediaTime(milliseconds: Int64(early)))
            #expect(hasRoom)
            for frame in 0..<25 {
                let time = begin + Int64(frame * 40)
                let sound = timeline.placed(Self.unit(.audio(.aac), frame * 40)).decodeTime
                #expect(sound.milliseconds == time - Int64(early))
                let picture = timeline.placed(Self.unit(.video(.h264), early + frame * 40)).decodeTime
                #expect(picture.milliseconds == time)
            }
        }
        #expect(timeline.seams == [])
        #expect(timeline.begin == 1_000_000 && timeline.end == 1_100_000)
    }

    @Test func `frames that are shown in another order than they are decoded follow each other as they are shown`() {
        var timeline = FilmTimeline()
        var shown: [Int64] = []
        // By their names they reach into each other by ten milliseconds.
        for recording: Int64 in [1_000_000, 1_000_990] {
            let hasRoom = timeline.beginRecording(recording, lead: MediaTime(milliseconds: 80))
            #expect(hasRoom)
            for frame in 0..<25 {
                var unit = Self.unit(.video(.h264), frame * 40)
                unit.presentationTime = unit.decodeTime + MediaTime(milliseconds: 80)
                shown.append(timeline.placed(unit).presentationTime.milliseconds)
            }
        }
        #expect(shown == (0..<50).map { $0 * 40 })
        #expect(timeline.begin == 1_000_000 && timeline.end == 1_001_990 && timeline.seams == [])
        #expect(timeline.duration.milliseconds == 2000)
    }

    @Test func `a short gap stays, a long one becomes a second`() {
        var timeline = FilmTimeline()
        _ = Self.second(&timeline, 1_000_000)
        let outcome6 = Self.second(&timeline, 1_011_000)
        #expect(outcome6.first == 11_000)
        let outcome7 = Self.second(&timeline, 1_022_001)
        #expect(outcome7.first == 13_000)
        // The next ones follow the clock again.
        let outcome8 = Self.second(&timeline, 1_025_001)
        #expect(outcome8.first == 16_000)
        #expect(
            timeline.seams
                == [
                    .init(
                        reason: .gap, place: MediaTime(milliseconds: 1000), from: 1_001_000, to: 1_011_000, kept: 10_000
                    ),
                    .init(
                        reason: .gap, place: MediaTime(milliseconds: 12_000), from: 1_012_000, to: 1_022_001, kept: 1000
                    ),
                    .init(
                        reason: .gap, place: MediaTime(milliseconds: 14_000), from: 1_023_001, to: 1_025_001, kept: 2000
                    ),
                ].filter { $0.to - $0.from > 2000 })
    }

    @Test func `a clock that was set back leaves no gap and no knot`() {
        var timeline = FilmTimeline()
        _ = Self.second(&timeline, 10_000_000)
        let outcome9 = Self.second(&timeline, 5_000_000)
        #expect(outcome9.first == 1000)
        let outcome10 = Self.second(&timeline, 5_001_000)
        #expect(outcome10.first == 2000)
        #expect(timeline.seams.map(\.reason) == [.clockSetBack])
        #expect(timeline.seams.first?.from == 10_001_000 && timeline.seams.first?.to == 5_000_000)
        #expect(timeline.end == 5_002_000)
    }

    @Test func `absurd times of recordings are gaps, and a film ends somewhere`() {
        var timeline = FilmTimeline()
        let outcome11 = timeline.beginRecording(0)
        #expect(outcome11)
        let last = MediaTime(nanoseconds: FilmTimeline.latest)
        var unit = Self.unit(.video(.h264), 0)
        _ = timeline.placed(unit)
        let outcome12 = timeline.beginRecording(253_402_300_799_999)
        #expect(outcome12)
        let outcome13 = timeline.placed(unit)
        #expect(outcome13.decodeTime.milliseconds == 1040)
        unit.decodeTime = last
        unit.presentationTime = last
        #expect(FilmTimeline.isTime(unit))
        _ = timeline.placed(unit)
        let outcome14 = timeline.beginRecording(0)
        #expect(!outcome14)
        unit.decodeTime = MediaTime(nanoseconds: .max)
        #expect(!FilmTimeline.isTime(unit))
        unit.decodeTime = MediaTime(nanoseconds: .min)
        #expect(!FilmTimeline.isTime(unit))
    }
}
