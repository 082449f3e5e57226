import Testing

@testable import DeviceSource

struct WallClockTests {
    private static let year2026: Int64 = 1_790_000_000_000_000_000

    @Test func `instants keep their distances while the wall clock is slewed`() {
        var clock = WallClock()
        clock.observed(wall: Self.year2026, monotonic: 1_000_000_000)
        clock.observed(wall: Self.year2026 + 60_030_000_000, monotonic: 61_000_000_000)
        #expect(clock.drift == 30_000_000)
        #expect(clock.steps == 0)
        #expect(clock.time(of: 61_000_000_000) == Self.year2026 + 60_000_000_000)
    }

    @Test func `a clock that begins at 1970 is mapped again when it is set`() {
        var clock = WallClock()
        clock.observed(wall: 20_000_000_000, monotonic: 10_000_000_000)
        #expect(clock.time(of: 11_000_000_000) == 21_000_000_000)
        clock.observed(wall: Self.year2026, monotonic: 12_000_000_000)
        #expect(clock.steps == 1)
        #expect(clock.drift == 0)
        #expect(clock.time(of: 12_500_000_000) == Self.year2026 + 500_000_000)
    }
}
