import Testing

@testable import DeviceSource

struct DriverClockTests {
    private static let second: UInt64 = 1_000_000_000
    private static let start: UInt64 = 5_000 * second

    @Test func `a driver on the same clock is believed`() {
        var clock = DriverClock()
        for number in 0..<100 as Range<UInt64> {
            let taken = Self.start + number * 33_333_333
            let instant = clock.instant(timestamp: taken, received: taken + 4_000_000)
            #expect(instant == taken)
        }
        #expect(clock.steps == 0)
    }

    @Test func `without a time stamp the arrival counts`() {
        var clock = DriverClock()
        let instant = clock.instant(timestamp: nil, received: 42)
        #expect(instant == 42)
        #expect(clock.steps == 0)
    }

    @Test func `another clock is mapped once, keeps its distances, and is not a step`() {
        var clock = DriverClock()
        let first = clock.instant(timestamp: 7, received: Self.start)
        #expect(first == Self.start)
        for number in 1..<50 as Range<UInt64> {
            let jitter = number % 3 * 1_000_000
            let instant = clock.instant(
                timestamp: 7 + number * 40_000_000, received: Self.start + number * 40_000_000 + jitter)
            #expect(instant == Self.start + number * 40_000_000)
        }
        #expect(clock.steps == 0)
    }

    @Test func `a clock that wraps at the end of its range is one step, and time goes on`() {
        var clock = DriverClock()
        var last: UInt64 = 0
        for number in 0..<40 as Range<UInt64> {
            let real = Self.start + number * 50_000_000
            // 20 frames before the end of the range, the rest behind it.
            let driver = UInt64.max - 20 * 50_000_000 &+ number * 50_000_000
            let instant = clock.instant(timestamp: driver, received: real + 2_000_000)
            #expect(instant > last)
            #expect(real + 2_000_000 - instant <= 2_000_000)
            last = instant
        }
        #expect(clock.steps == 0, "modulo 2^64 nothing happened")
        let back = clock.instant(timestamp: Self.start + 41 * 50_000_000, received: Self.start + 41 * 50_000_000)
        #expect(back == Self.start + 41 * 50_000_000)
    }

    @Test func `jumps in both directions are counted and bridged`() {
        var clock = DriverClock()
        var last: UInt64 = 0
        var shift: UInt64 = 0
        for number in 0..<300 as Range<UInt64> {
            if number == 100 { shift = 3600 * Self.second }
            if number == 200 { shift = 0 &- 1800 * Self.second }
            let real = Self.start + number * 33_000_000
            let instant = clock.instant(timestamp: real &+ shift, received: real + 3_000_000)
            #expect(instant > last)
            #expect(instant <= real + 3_000_000)
            #expect(instant + 10_000_000 >= real)
            last = instant
        }
        #expect(clock.steps == 2)
    }

    @Test func `a clock that stands still does not stop time`() {
        var clock = DriverClock()
        var last: UInt64 = 0
        for number in 0..<200 as Range<UInt64> {
            let instant = clock.instant(timestamp: Self.start, received: Self.start + number * 100_000_000)
            #expect(instant > last)
            last = instant
        }
        #expect(clock.steps > 0)
        #expect(Self.start + 199 * 100_000_000 - last <= DriverClock.oldest)
    }

    @Test func `any time stamps at all neither trap nor turn time back`() {
        var clock = DriverClock()
        var generator = SystemRandomNumberGenerator()
        var last: UInt64 = 0
        for number in 0..<10_000 as Range<UInt64> {
            let stamp: UInt64? = number % 7 == 0 ? nil : .random(in: 0 ... .max, using: &generator)
            let instant = clock.instant(timestamp: stamp, received: Self.start + number * 1_000_000)
            #expect(instant > last)
            last = instant
        }
    }
}
