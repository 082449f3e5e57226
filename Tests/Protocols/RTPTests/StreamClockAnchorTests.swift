import Media
import RTP
import TestSupport
import Testing

/// Where a timeline stands when the first units say nothing of it, and when the clock's rate was announced wrongly.
struct StreamClockAnchorTests {
    private static let begin = 1000 * second

    /// - Parameter sent: when a frame comes, by its number, from `begin` on.
    private func placements(
        _ indices: Range<Int>, of clock: inout StreamClock, ticks: Int = 3600, sent: (Int) -> UInt64
    ) throws -> [(ahead: Int64, placement: StreamClock.Placement)] {
        var placements: [(ahead: Int64, placement: StreamClock.Placement)] = []
        for index in indices {
            let arrival = Self.begin + sent(index)
            let placed = clock.place(UInt32(truncatingIfNeeded: index * ticks), arrival: arrival)
            let placement = try #require(placed)
            placements.append((placement.presentationTime.nanoseconds - Int64(arrival), placement))
        }
        return placements
    }

    private func decodeTimesIncrease(_ placements: [(ahead: Int64, placement: StreamClock.Placement)]) -> Bool {
        zip(placements, placements.dropFirst()).allSatisfy { $0.placement.decodeTime < $1.placement.decodeTime }
    }

    @Test(arguments: [0, 4, 20] as [UInt64])
    func `frames that were kept back until PLAY do not stand ahead of the audio`(step: UInt64) throws {
        // 2 s of them, at once or faster than they were taken, then one every 40 ms.
        var clock = StreamClock(clockRate: 90000)
        let live = 50 * step
        let placements = try placements(0..<1500, of: &clock) { index in
            (index < 50 ? UInt64(index) * step : live + UInt64(index - 50) * 40) * millisecond
        }
        #expect(decodeTimesIncrease(placements))
        #expect(placements.allSatisfy { $0.ahead <= 250_000_000 })
        #expect(placements.dropFirst(50 + 50).allSatisfy { abs($0.ahead) < 50_000_000 })
        // Even steps again.
        let presented = placements.dropFirst(100).map(\.placement.presentationTime.nanoseconds)
        #expect(zip(presented, presented.dropFirst()).allSatisfy { abs($1 - $0 - 40_000_000) <= 25_000 })
        #expect(clock.timelines == 0 && clock.leftOut == 0)
    }

    @Test func `a first frame that was late is not a measure`() throws {
        // A key frame takes its time on a slow line.
        var clock = StreamClock(clockRate: 90000)
        let placements = try placements(0..<200, of: &clock) { index in
            max(700, UInt64(index) * 40) * millisecond
        }
        #expect(decodeTimesIncrease(placements))
        #expect(placements.dropFirst(75).allSatisfy { abs($0.ahead) < 50_000_000 })
    }

    @Test func `a group that was kept back longer than a line takes to settle is moved too`() throws {
        // 10 s of frames within 5 s.
        var clock = StreamClock(clockRate: 90000)
        let placements = try placements(0..<600, of: &clock) { index in
            (index < 250 ? UInt64(index) * 20 : 5000 + UInt64(index - 250) * 40) * millisecond
        }
        #expect(decodeTimesIncrease(placements))
        #expect(placements.dropFirst(300).allSatisfy { abs($0.ahead) < 50_000_000 })
        #expect(clock.timelines == 0 && clock.leftOut == 0)
    }

    @Test(arguments: [2, 1.2, 1.05, 6] as [Double])
    func `a clock faster than announced stays near the receive clock`(factor: Double) throws {
        // rtpmap says 8000, the camera counts 16000.
        var clock = StreamClock(clockRate: 8000)
        let placements = try placements(0..<4500, of: &clock, ticks: Int(320 * factor)) { index in
            UInt64(index) * 40 * millisecond
        }
        #expect(decodeTimesIncrease(placements))
        #expect(placements.allSatisfy { $0.ahead <= 1_000_000_000 })
        #expect(placements.dropFirst(2000).allSatisfy { abs($0.ahead) <= 50_000_000 })
        #expect(clock.timelines <= 2 && clock.leftOut == 0)
    }

    @Test func `a clock that runs away later begins a new timeline at most a second ahead`() throws {
        var clock = StreamClock(clockRate: 90000)
        _ = try placements(0..<100, of: &clock) { UInt64($0) * 40 * millisecond }
        // 40 s of frames within 2 s: more than a second of them has no place of its own.
        var ahead: [Int64] = []
        for index in 100..<1100 as Range<UInt64> {
            let arrival = Self.begin + (4000 + (index - 100) * 2) * millisecond
            guard let placement = clock.place(UInt32(index * 3600), arrival: arrival) else { continue }
            ahead.append(placement.presentationTime.nanoseconds - Int64(arrival))
        }
        #expect(ahead.allSatisfy { $0 <= 1_000_000_000 })
        #expect(clock.timelines == 1)
    }

    @Test func `what stands a second ahead is left out until arrivals have caught up`() throws {
        var clock = StreamClock(clockRate: 8000)
        // 3000 units at once, a millisecond each at least.
        let placed = (0..<3000).map { clock.place(UInt32($0) * 160, arrival: Self.begin) }
        let last = try #require(placed.compactMap { $0 }.last?.presentationTime.nanoseconds)
        #expect(last - Int64(Self.begin) <= 1_000_000_000)
        let firstLeftOut = try #require(placed.firstIndex { $0 == nil })
        #expect(firstLeftOut > 500 && placed[firstLeftOut...].allSatisfy { $0 == nil })
        #expect(clock.leftOut == UInt64(3000 - firstLeftOut))
        let early = clock.place(3000 * 160, arrival: UInt64(last) - millisecond)
        #expect(early == nil)
        let placedAgain = clock.place(3001 * 160, arrival: UInt64(last) + millisecond)
        let again = try #require(placedAgain)
        #expect(again.beginsTimeline)
        #expect(again.presentationTime.nanoseconds == last + 1_000_000)
    }
}
