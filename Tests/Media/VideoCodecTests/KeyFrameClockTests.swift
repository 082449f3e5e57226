import Media
import Testing
import VideoCodec

@Suite struct KeyFrameClockTests {
    private func clock(_ milliseconds: Int64 = 1000) -> KeyFrameClock {
        KeyFrameClock(interval: MediaTime(milliseconds: milliseconds))
    }

    /// The frames of which a clock makes key frames, for an encoder that does as requested, at once.
    private func keys(_ clock: inout KeyFrameClock, _ times: [Int64]) -> [Int64] {
        times.filter { milliseconds in
            let time = MediaTime(milliseconds: milliseconds)
            let isKey = clock.sending(at: time)
            clock.received(at: time, isKeyFrame: isKey)
            return isKey
        }
    }

    private func sending(_ clock: inout KeyFrameClock, _ milliseconds: Int64) -> Bool {
        clock.sending(at: MediaTime(milliseconds: milliseconds))
    }

    @Test func `the first frame is a key frame, and then one in each interval`() {
        var clock = clock()
        #expect(keys(&clock, Array(stride(from: 0, to: 3100, by: 40))) == [0, 1000, 2000, 3000])
    }

    @Test func `the distance is in time, whatever the frame rate does`() {
        var clock = clock()
        let slow = Array(stride(from: Int64(0), to: 2000, by: 200))
        let fast = Array(stride(from: Int64(2000), to: 4001, by: 10))
        #expect(keys(&clock, slow + fast) == [0, 1000, 2000, 3000, 4000])
    }

    @Test func `the frame nearest to the due time is taken`() {
        var early = clock()
        // 990 is nearer to 1000 than 1030 is.
        #expect(keys(&early, Array(stride(from: 0, through: 950, by: 50)) + [990, 1030]) == [0, 990])
        var late = clock()
        // 970 is farther than 1010 will be.
        #expect(keys(&late, Array(stride(from: 0, through: 930, by: 30)) + [970, 1010]) == [0, 1010])
    }

    @Test func `times that jitter do not shift the count by more than one frame`() {
        var clock = clock()
        let shaking = (0..<100).map { (number: Int64) -> Int64 in
            let shift = (number % 3 - 1) * 5
            return number * 40 + shift
        }
        let found = keys(&clock, shaking)
        #expect(found.count == 4)
        for (one, next) in zip(found, found.dropFirst()) { #expect((980...1020).contains(next - one)) }
    }

    @Test func `a request is the next frame, and the count begins there`() {
        var clock = clock()
        #expect(keys(&clock, [0, 400]) == [0])
        clock.request()
        #expect(keys(&clock, Array(stride(from: 440, through: 1480, by: 40))) == [440, 1440])
    }

    @Test func `a key frame that the encoder makes by itself begins the count, too`() {
        var clock = clock()
        #expect(sending(&clock, 0))
        clock.received(at: .zero, isKeyFrame: true)
        #expect(!sending(&clock, 600))
        clock.received(at: MediaTime(milliseconds: 600), isKeyFrame: true)
        #expect(!sending(&clock, 1200))
        #expect(sending(&clock, 1600))
    }

    @Test func `a key frame that was asked for and did not come is asked for again`() {
        var clock = clock()
        #expect(sending(&clock, 0))
        clock.received(at: .zero, isKeyFrame: true)
        #expect(sending(&clock, 1000))
        // The encoder is a frame behind, so nothing is known of it yet.
        #expect(!sending(&clock, 1040))
        clock.received(at: MediaTime(milliseconds: 1000), isKeyFrame: false)
        #expect(sending(&clock, 1080))
        clock.received(at: MediaTime(milliseconds: 1040), isKeyFrame: false)
        #expect(!sending(&clock, 1120))
        clock.received(at: MediaTime(milliseconds: 1080), isKeyFrame: true)
        #expect(!sending(&clock, 1160))
    }

    @Test func `a key frame whose frame was dropped is asked for again`() {
        var clock = clock()
        #expect(sending(&clock, 0))
        clock.received(at: MediaTime(milliseconds: 40), isKeyFrame: false)
        #expect(sending(&clock, 80))
    }

    @Test func `a shorter interval counts from the last key frame`() {
        var clock = clock()
        #expect(keys(&clock, [0, 300]) == [0])
        clock.interval = MediaTime(milliseconds: 500)
        #expect(keys(&clock, [340, 500, 540, 1000]) == [500, 1000])
    }

    @Test func `after a restart, and after time went back, the next frame is a key frame`() {
        var clock = clock()
        #expect(keys(&clock, [0, 40]) == [0])
        clock.restart()
        #expect(keys(&clock, [80, 120]) == [80])
        #expect(keys(&clock, [20, 60]) == [20])
    }

    @Test func `times at the ends of the range do not trap`() {
        var clock = clock()
        for value in [Int64.min, .max, 0, .max, .min, .min] {
            _ = clock.sending(at: MediaTime(nanoseconds: value))
            clock.received(at: MediaTime(nanoseconds: value), isKeyFrame: value == 0)
        }
    }
}
