import Testing

@testable import UplinkRate

struct EncoderPaceTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `a cut goes at once, and a small one not`() {
        var pace = EncoderPace(most: 1_000_000)
        #expect(pace.take(960_000, at: 0) == nil)
        #expect(pace.take(950_000, at: 0) == 950_000)
        #expect(pace.take(400_000, at: 1) == 400_000)
        #expect(pace.take(380_001, at: 2) == nil)
        #expect(pace.take(380_000, at: 2) == 380_000)
        #expect(pace.bitrate == 380_000 && pace.changedAt == 2)
    }

    @Test func `a raise waits for half a second, and for a twentieth`() {
        var pace = EncoderPace(most: 1_000_000)
        #expect(pace.take(400_000, at: Self.second) == 400_000)
        #expect(pace.take(800_000, at: Self.second * 3 / 2 - 1) == nil)
        #expect(pace.take(419_000, at: Self.second * 3 / 2) == nil)
        #expect(pace.take(420_000, at: Self.second * 3 / 2) == 420_000)
        #expect(pace.take(800_000, at: Self.second * 2 - 1) == nil)
        #expect(pace.take(800_000, at: Self.second * 2) == 800_000)
    }

    @Test func `the most gets through, however small the step`() {
        var pace = EncoderPace(most: 1_000_000)
        #expect(pace.take(950_000, at: 0) == 950_000)
        #expect(pace.take(960_000, at: Self.second) == nil)
        #expect(pace.take(960_000, at: Self.second) == nil)
        #expect(pace.take(999_999, at: 2 * Self.second) == 999_999)
        #expect(pace.take(1_000_000, at: 2 * Self.second) == nil)
        #expect(pace.take(1_000_000, at: 3 * Self.second) == 1_000_000)
        #expect(pace.take(1_000_000, at: 9 * Self.second) == nil)
    }

    @Test func `what an encoder cannot have it is not given`() {
        var pace = EncoderPace(most: 1_000_000)
        #expect(pace.take(.nan, at: 0) == nil)
        #expect(pace.take(.infinity, at: 0) == nil && pace.bitrate == 1_000_000)
        #expect(pace.take(-.infinity, at: .max) == 0)
        // From nothing, and by a clock that was set back.
        #expect(pace.take(1e300, at: 0) == nil)
        #expect(pace.take(1e300, at: Self.second / 2) == 1_000_000)
        var none = EncoderPace(most: -1)
        #expect(none.take(5, at: 0) == nil && none.bitrate == 0)
    }

    @Test func `one that is opened again gets fewer and larger changes`() {
        var pace = EncoderPace(most: 2_000_000)
        pace.kind = .reopened
        #expect(pace.take(1_700_000, at: 0) == nil)
        #expect(pace.take(1_600_000, at: 0) == 1_600_000)
        #expect(pace.take(500_000, at: Self.second - 1) == nil)
        #expect(pace.take(500_000, at: Self.second) == 500_000)
        #expect(pace.take(2_000_000, at: 6 * Self.second - 1) == nil)
        #expect(pace.take(620_000, at: 6 * Self.second) == nil)
        #expect(pace.take(1_900_000, at: 6 * Self.second) == 1_900_000)
        #expect(pace.take(1_990_000, at: 20 * Self.second) == nil)
        #expect(pace.take(2_000_000, at: 20 * Self.second) == 2_000_000)
    }
}
