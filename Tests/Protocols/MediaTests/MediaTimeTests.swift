import Media
import Testing

@Suite struct MediaTimeTests {
    @Test(
        arguments: [
            (1, 1, 1_000_000_000), (5, 2, 2_500_000_000), (1, 3, 333_333_333), (2, 3, 666_666_667),
            (-2, 3, -666_666_667), (90000, 90000, 1_000_000_000), (1, 90000, 11_111), (1, 2_000_000_000, 1),
            (-1, 2_000_000_000, -1), (1, 2_000_000_001, 0), (0, 1, 0), (.max, 1, .max), (.min, 1, .min),
            (.max, 1_000_000_000, .max), (.min, 1_000_000_000, .min), (.max, .max, 1_000_000_000),
            (.max, 999_999_999, .max), (10_000_000_000, 2, 5_000_000_000_000_000_000), (.min, .max, -1_000_000_000),
        ] as [(Int64, Int64, Int64)])
    func `ticks become nanoseconds`(ticks: Int64, timescale: Int64, nanoseconds: Int64) {
        #expect(MediaTime(ticks: ticks, timescale: timescale).nanoseconds == nanoseconds)
    }

    @Test(
        arguments: [
            (1_000_000_000, 90000, 90000), (11_111, 90000, 1), (5_555, 90000, 0), (5_556, 90000, 1),
            (-11_111, 90000, -1), (.max, 1, 9_223_372_037), (.max, 2_000_000_000, .max), (.min, 2_000_000_000, .min),
            (.max, 1_000_000_000, .max), (500_000_000, 1, 1), (-500_000_000, 1, -1), (499_999_999, 1, 0),
            (.min, .max, .min),
        ] as [(Int64, Int64, Int64)])
    func `nanoseconds become ticks`(nanoseconds: Int64, timescale: Int64, ticks: Int64) {
        #expect(MediaTime(nanoseconds: nanoseconds).ticks(timescale: timescale) == ticks)
    }

    @Test(
        arguments: [
            (0, 0), (499_999, 0), (500_000, 1), (1_499_999, 1), (-500_000, 0), (-500_001, -1), (-1_500_000, -1),
            (-1_500_001, -2), (.max, 9_223_372_036_854), (.min, -9_223_372_036_855),
        ] as [(Int64, Int64)])
    func `milliseconds are the nearest`(nanoseconds: Int64, milliseconds: Int64) {
        #expect(MediaTime(nanoseconds: nanoseconds).milliseconds == milliseconds)
    }

    /// 29.97 frames per second for an hour: no drift, whatever the unit.
    @Test func `rounding does not add up`() {
        for frame in stride(from: Int64(0), to: 107_892, by: 101) {
            let time = MediaTime(ticks: frame * 1001, timescale: 30000)
            #expect(time.ticks(timescale: 30000) == frame * 1001)
            #expect(abs(time.milliseconds * 30 - frame * 1001) <= 15)
        }
    }

    @Test func `times compare and wrap`() {
        #expect(MediaTime(milliseconds: 1) < MediaTime(milliseconds: 2))
        #expect(MediaTime(milliseconds: 2) + MediaTime(milliseconds: 3) == MediaTime(milliseconds: 5))
        #expect(MediaTime(milliseconds: 2) - MediaTime(milliseconds: 3) == MediaTime(milliseconds: -1))
        #expect(MediaTime(nanoseconds: .max) + MediaTime(nanoseconds: 1) == MediaTime(nanoseconds: .min))
        #expect(MediaTime(milliseconds: .max).nanoseconds == .max)
    }
}
