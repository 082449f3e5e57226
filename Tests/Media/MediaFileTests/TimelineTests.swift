import Media
import TestSupport
import Testing

@testable import MediaFile

@Suite struct TimelineTests {
    private func unit(_ milliseconds: Int64, shownAfter composition: Int64 = 0, isVideo: Bool = true) -> AccessUnit {
        AccessUnit(
            track: isVideo ? .video(.h264) : .audio(.aac), isKeyFrame: true,
            presentationTime: MediaTime(milliseconds: milliseconds + composition),
            decodeTime: MediaTime(milliseconds: milliseconds), data: [])
    }

    /// Through both steps, one after the other.
    private func run(_ timeline: inout Timeline, _ units: [AccessUnit]) -> [(decode: Int64, shown: Int64)] {
        units.map { unit in
            var unit = unit
            timeline.straighten(&unit)
            timeline.place(&unit)
            return (unit.decodeTime.milliseconds, unit.presentationTime.milliseconds)
        }
    }

    @Test(arguments: [-80, 0, 3_600_000, -1_000_000_000_000] as [Int64])
    func `the first unit is at zero, wherever the file begins`(start: Int64) {
        var timeline = Timeline()
        let times = run(&timeline, [unit(start, shownAfter: 80), unit(start + 40), unit(start + 80, shownAfter: 40)])
        #expect(times.map(\.decode) == [0, 40, 80])
        #expect(times.map(\.shown) == [80, 40, 120])
    }

    @Test func `decode times that repeat or step back a little grow by a millisecond, and shown times stay`() {
        var timeline = Timeline()
        let times = run(
            &timeline, [unit(0), unit(40, shownAfter: 40), unit(40, shownAfter: 80), unit(30, shownAfter: 130)])
        #expect(times.map(\.decode) == [0, 40, 41, 42])
        #expect(times.map(\.shown) == [0, 80, 120, 160])
    }

    @Test func `the seam of two recordings is closed, for both tracks by the same amount`() {
        var timeline = Timeline()
        let before: [AccessUnit] = (0..<5).flatMap { [unit($0 * 40), unit($0 * 40 + 10, isVideo: false)] }
        let after: [AccessUnit] = (0..<5).flatMap {
            [unit(50_000_000 + $0 * 40), unit(50_000_010 + $0 * 40, isVideo: false)]
        }
        let times = run(&timeline, before + after + before)
        let video = stride(from: 0, to: 30, by: 2).map { times[$0].decode }
        let audio = stride(from: 1, to: 30, by: 2).map { times[$0].decode }
        #expect(zip(video, video.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 100 })
        #expect(zip(audio, audio.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 100 })
        #expect(video[14] - video[10] == 160 && audio[14] - audio[10] == 160)
    }

    @Test func `a pause of one track alone is kept`() {
        var timeline = Timeline()
        var units = (0..<1000).map { unit(Int64($0) * 40) }
        units.append(unit(39_990, isVideo: false))
        let times = run(&timeline, [unit(0, isVideo: false)] + units)
        #expect(times.last?.decode == 39_990)
    }

    @Test func `a pass begins when the longer track of the one before has ended`() {
        var timeline = Timeline()
        let pass = [
            unit(-80, shownAfter: 80), unit(0, isVideo: false), unit(-40), unit(30, isVideo: false), unit(0),
        ]
        var times = run(&timeline, pass)
        timeline.beginNextPass()
        times += run(&timeline, pass)
        // Video: 120 ms. Audio: 60 ms.
        #expect(times.map(\.decode) == [0, 80, 40, 110, 80, 120, 200, 160, 230, 200])
        #expect(times[5].shown == 200)
    }

    @Test func `a hundred thousand passes do not drift`() {
        var timeline = Timeline()
        var last: Int64 = 0
        for pass in 0..<100_000 as Range<Int64> {
            if pass > 0 { timeline.beginNextPass() }
            last = run(&timeline, [unit(1000), unit(1040)])[1].decode
        }
        #expect(last == 99_999 * 80 + 40)
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `whatever the times are, they grow, and stay together`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var timeline = Timeline()
        var last: [Bool: Int64] = [:]
        for index in 0..<300 {
            if index % 50 == 49 { timeline.beginNextPass() }
            let range: ClosedRange<Int64> = seed % 2 == 0 ? .min ... .max : 0...20_000_000_000
            var unit = unit(0, isVideo: .random(using: &generator))
            unit.decodeTime.nanoseconds = .random(in: range, using: &generator)
            unit.presentationTime.nanoseconds = .random(in: range, using: &generator)
            timeline.straighten(&unit)
            timeline.place(&unit)
            let time = unit.decodeTime.nanoseconds
            if let before = last[unit.track.isVideo] {
                #expect(time > before)
            } else {
                #expect(time >= 0)
            }
            last[unit.track.isVideo] = time
            let composition = unit.presentationTime - unit.decodeTime
            #expect(composition >= .zero && composition <= MediaTime(milliseconds: 10_000))
            // Each unit moves the line by less than the step that is taken for a seam.
            #expect(time < 320 * 10_100_000_000)
        }
    }
}
