import Testing

@testable import RTSPIngest

@Suite struct ReadPaceTests {
    private static let millisecond: UInt64 = 1_000_000

    /// One that has seen frames so many milliseconds apart, and has just read one.
    private func pace(
        apart distance: UInt64, bytes: Int = 16_000, from start: UInt64 = 1_000
    ) -> (ReadPace, now: UInt64) {
        var pace = ReadPace()
        var now = start * Self.millisecond
        for _ in 0..<9 {
            now += distance * Self.millisecond
            pace.read(at: now)
            pace.took(bytes)
            pace.frameEnded(at: now)
        }
        return (pace, now)
    }

    @Test(arguments: [(40, 48), (33, 41), (16, 24), (100, 50), (1000, 50)] as [(UInt64, UInt64)])
    func `after a frame only the next one wakes, until a little after it is due`(distance: UInt64, wait: UInt64) {
        let (pace, now) = pace(apart: distance)
        #expect(pace.pause(at: now) == nil && !pace.isGathering)
        #expect(pace.wait(at: now) / Self.millisecond == wait)
        #expect(pace.wait(at: now + 1000 * Self.millisecond) == 0)
    }

    @Test(arguments: [(16_000, 8192), (300, 128), (1, 1), (5, 2), (200_000, 32_768), (.max, 32_768)] as [(Int, Int32)])
    func `the mark is below the smallest of the last frames`(bytes: Int, mark: Int32) {
        var (pace, now) = pace(apart: 40, bytes: bytes)
        #expect(pace.mark == mark)
        // A key frame changes nothing.
        now += 40 * Self.millisecond
        pace.read(at: now)
        pace.took(1_000_000)
        pace.frameEnded(at: now)
        #expect(pace.mark == mark)
        // One that is smaller, with the audio before it, does.
        now += 40 * Self.millisecond
        pace.read(at: now)
        pace.took(40)
        pace.took(60)
        pace.frameEnded(at: now)
        #expect(pace.mark == min(mark, 64))
    }

    @Test func `the rest of a frame is read without waiting for the mark`() {
        var (pace, now) = pace(apart: 40)
        now += 40 * Self.millisecond
        pace.read(at: now)
        pace.took(60_000)
        #expect(pace.isGathering)
        #expect(pace.pause(at: now) == ReadPace.burst)
        #expect(pace.pause(at: now + Self.millisecond) == ReadPace.burst - Self.millisecond)
        now += ReadPace.burst
        #expect(pace.pause(at: now) == nil)
        pace.read(at: now)
        pace.took(1000)
        #expect(pace.isGathering)
        now += ReadPace.burst
        pace.read(at: now)
        #expect(!pace.isGathering, "nothing came: the camera pauses amid a frame")
        #expect(pace.wait(at: now) == ReadPace.firstWait)
    }

    @Test func `audio alone is not a frame on its way`() {
        var (pace, now) = pace(apart: 40)
        now += 48 * Self.millisecond
        pace.read(at: now)
        pace.took(800)
        #expect(!pace.isGathering && pace.pause(at: now) == nil)
        #expect(pace.wait(at: now) == ReadPace.firstWait)
    }

    @Test func `until distance and size are known, little is waited for, and not long`() {
        var young = ReadPace()
        #expect(young.mark == ReadPace.part && young.wait(at: 0) == ReadPace.firstWait)
        for number in 1...7 as ClosedRange<UInt64> {
            young.read(at: number * 40 * Self.millisecond)
            young.took(16_000)
            young.frameEnded(at: number * 40 * Self.millisecond)
        }
        #expect(young.mark == ReadPace.part && young.wait(at: 280 * Self.millisecond) == ReadPace.firstWait)
    }

    @Test func `frames that came together are not taken for one large one`() {
        var (pace, now) = pace(apart: 40)
        for _ in 0..<8 {
            now += 120 * Self.millisecond
            pace.read(at: now)
            pace.took(24_000)
            for _ in 0..<3 { pace.frameEnded(at: now) }
        }
        #expect(pace.mark == 4096)
        #expect(pace.wait(at: now) / Self.millisecond == 48)
    }

    @Test func `datagrams are not left to lie`() {
        var (pace, now) = pace(apart: 40)
        pace.readsBursts = false
        #expect(pace.pause(at: now) == ReadPace.burst && !pace.isGathering)
    }

    @Test func `any clock and any count are borne`() {
        var pace = ReadPace()
        for now in [UInt64.max, 0, 1, .max - 1, 5, .max] {
            pace.read(at: now)
            pace.took(.max)
            pace.took(.min)
            pace.frameEnded(at: now)
            _ = pace.pause(at: now)
            _ = pace.wait(at: 0)
            _ = pace.wait(at: .max)
        }
    }
}
