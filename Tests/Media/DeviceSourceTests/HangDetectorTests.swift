import Testing

@testable import DeviceSource

struct HangDetectorTests {
    private static let step: UInt64 = 50_000_000

    @Test func `a call that lasts longer than the deadline hangs`() {
        var detector = HangDetector()
        var now: UInt64 = 1_000
        var looks = 0
        while !detector.observed(isBusy: true, beat: 7, at: now) {
            now += Self.step
            looks += 1
            if looks > 100 { break }
        }
        #expect(looks == 21, "one second and one step")
    }

    @Test func `many short calls are not a hang`() {
        var detector = HangDetector()
        for beat in 0..<1_000 as Range<UInt64> {
            let isHung = detector.observed(isBusy: true, beat: beat / 15, at: beat * Self.step)
            #expect(!isHung)
        }
    }

    @Test func `idle time between two calls does not add up`() {
        var detector = HangDetector()
        for look in 0..<400 as Range<UInt64> {
            let isHung = detector.observed(isBusy: look % 19 != 0, beat: 1, at: look * Self.step)
            #expect(!isHung)
        }
    }

    @Test func `a process that was stopped in the middle of a call gets its time again`() {
        var detector = HangDetector()
        let isHung1 = detector.observed(isBusy: true, beat: 1, at: 0)
        #expect(!isHung1)
        // An hour under SIGSTOP.
        let isHung2 = detector.observed(isBusy: true, beat: 1, at: 3_600_000_000_000)
        #expect(!isHung2)
        let isHung3 = detector.observed(isBusy: true, beat: 1, at: 3_600_050_000_000)
        #expect(!isHung3)
        let isHung4 = detector.observed(isBusy: true, beat: 2, at: 3_600_100_000_000)
        #expect(!isHung4)
    }
}
