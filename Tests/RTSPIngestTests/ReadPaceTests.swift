import Testing

@testable import RTSPIngest

@Suite struct ReadPaceTests {
    private static let millisecond: UInt64 = 1_000_000

    /// One that has seen pictures so many milliseconds apart, and has just read one.
    private func pace(apart distance: UInt64, from start: UInt64 = 1_000) -> (ReadPace, now: UInt64) {
        var pace = ReadPace()
        var now = start * Self.millisecond
        for _ in 0..<9 {
            now += distance * Self.millisecond
            pace.read(at: now)
            pace.pictureEnded(at: now)
        }
        return (pace, now)
    }

    @Test func `the packets of a burst are gathered`() {
        var pace = ReadPace()
        pace.read(at: 5_000_000_000)
        #expect(pace.pause(at: 5_000_000_000) == ReadPace.burst)
        #expect(pace.pause(at: 5_001_000_000) == ReadPace.burst - Self.millisecond)
        #expect(pace.pause(at: 5_000_000_000 + ReadPace.burst) == nil)
    }

    @Test(arguments: [(40, 30), (33, 24), (16, 12), (100, 40), (1000, 40)] as [(UInt64, UInt64)])
    func `after a picture nothing is read for most of the time to the next one`(distance: UInt64, pause: UInt64) {
        let (pace, now) = pace(apart: distance)
        let found = pace.pause(at: now) ?? 0
        #expect(found / Self.millisecond == pause)
    }

    @Test func `until the distance is known, and after a part of a picture, only the burst is waited for`() {
        var young = ReadPace()
        for number in 1...8 as ClosedRange<UInt64> {
            young.read(at: number * 40 * Self.millisecond)
            young.pictureEnded(at: number * 40 * Self.millisecond)
        }
        #expect(young.pause(at: 320 * Self.millisecond) == ReadPace.burst)
        var (pace, now) = pace(apart: 40)
        now += 30 * Self.millisecond
        pace.read(at: now)
        #expect(pace.pause(at: now) == ReadPace.burst)
    }

    @Test func `two pictures in one look mean that it was too late`() {
        var (pace, now) = pace(apart: 40)
        now += 80 * Self.millisecond
        pace.read(at: now)
        pace.pictureEnded(at: now)
        pace.pictureEnded(at: now)
        #expect(pace.pause(at: now) == ReadPace.burst)
    }

    @Test func `datagrams are not left to lie`() {
        var (pace, now) = pace(apart: 40)
        pace.readsBursts = false
        #expect(pace.pause(at: now) == ReadPace.burst)
    }

    @Test func `any clock is borne`() {
        var pace = ReadPace()
        for now in [UInt64.max, 0, 1, .max - 1, 5, .max] {
            pace.read(at: now)
            pace.pictureEnded(at: now)
            _ = pace.pause(at: now)
            _ = pace.pause(at: 0)
        }
    }
}
