import Testing

@testable import AudioCapture

struct StreamPositionTests {
    private let shape = StreamShape(rate: 48_000, channels: 1, format: .signed16, period: 960, buffer: 24_000)
    private let now: UInt64 = 100_000_000_000

    @Test func `the driver's stamp less what can be read is the first sample's instant`() {
        let position = StreamPosition(available: 960, stampSeconds: 99, stampNanoseconds: 995_000_000)
        #expect(position.instant(shape: shape, now: now) == 99_975_000_000)
    }

    @Test func `without a stamp the delay counts from now`() {
        #expect(StreamPosition(available: 480, delay: 960).instant(shape: shape, now: now) == 99_980_000_000)
        #expect(StreamPosition(available: 480).instant(shape: shape, now: now) == 99_990_000_000)
        // A delay shorter than what can be read is ignored.
        #expect(StreamPosition(available: 480, delay: 3).instant(shape: shape, now: now) == 99_990_000_000)
    }

    @Test(
        arguments: [
            // Time of day, the future, long ago, and numbers that are not a time.
            (1_764_000_000, 0), (101, 0), (98, 0), (-5, 0), (99, 2_000_000_000), (99, -1), (Int64.max, 0), (0, 0),
        ] as [(Int64, Int64)])
    func `a stamp that cannot be is not believed`(seconds: Int64, nanoseconds: Int64) {
        let position = StreamPosition(available: 480, stampSeconds: seconds, stampNanoseconds: nanoseconds)
        #expect(position.instant(shape: shape, now: now) == 99_990_000_000)
    }

    @Test func `counts that cannot be are bounded by the buffer`() {
        #expect(StreamPosition(available: .max).instant(shape: shape, now: now) == 98_000_000_000)
        #expect(StreamPosition(available: .min, delay: .min).instant(shape: shape, now: now) == now)
        #expect(StreamPosition(available: 0, delay: .max).instant(shape: shape, now: now) == 98_000_000_000)
        #expect(StreamPosition(available: .max).instant(shape: shape, now: 5) == 0)
    }

    @Test func `a free run is known by a buffer that nobody could have filled`() {
        func isFree(_ frames: UInt64, after nanoseconds: UInt64, head: Double = 0.1) -> Bool {
            FreeRun.isRecognised(shape: shape, frames: frames, sinceStart: nanoseconds, head: head)
        }
        #expect(isFree(24_000, after: 10_000))
        #expect(!isFree(0, after: 10_000))
        #expect(!isFree(4_000, after: 10_000))
        // A machine that was busy for half a second between the two.
        #expect(!isFree(24_000, after: 500_000_000))
        // A clock that is 0.1 % fast, for a day.
        #expect(!isFree(86_400 * 48_048, after: 86_400_000_000_000, head: 2))
        #expect(isFree(3 * 48_000, after: 100_000_000, head: 2))
    }

    @Test func `a free run is as fast as time, and forgets what a sleeper missed`() {
        var run = FreeRun(shape: shape, begin: now)
        #expect(run.due(now: now) == now + 20_000_000)
        #expect(run.taken(960) == now)
        #expect(run.due(now: now + 20_000_000) == now + 40_000_000)
        #expect(run.taken(480) == now + 20_000_000)
        #expect(run.due(now: now + 20_000_000) == now + 50_000_000)
        // Late by less than a second: at once.
        #expect(run.due(now: now + 900_000_000) == now + 50_000_000)
        let later = now + 60_000_000_000
        #expect(run.due(now: later) == later + 20_000_000)
        #expect(run.taken(960) == later)
    }
}
