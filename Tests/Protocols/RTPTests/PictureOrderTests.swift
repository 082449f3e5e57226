import Media
import RTP
import Testing

/// B pictures over the steps of a camera's clock.
struct PictureOrderTests {
    /// In decoding order, two of three shown before the one that came first.
    private static func number(_ index: Int) -> Int {
        index == 0 ? 0 : (index - 1) / 3 * 3 + [3, 1, 2][(index - 1) % 3]
    }

    private static func place(
        _ indices: Range<Int>, of clock: inout StreamClock, timestamp: UInt32 = 0, number: (Int) -> Int = number
    ) throws -> [StreamClock.Placement] {
        var placements: [StreamClock.Placement] = []
        for index in indices {
            let ticks = UInt32(truncatingIfNeeded: number(index) * 3600)
            let placed = clock.place(timestamp &+ ticks, arrival: 1000 * second + UInt64(index) * 40 * millisecond)
            placements.append(try #require(placed))
        }
        return placements
    }

    @Test func `what was learned of the order serves the next timeline from its first picture on`() throws {
        var clock = StreamClock(clockRate: 90000)
        var last = try Self.place(0..<100, of: &clock).map(\.presentationTime.nanoseconds).max() ?? 0
        for (timeline, isRestarted) in [false, true].enumerated() {
            // Numbers from 100 on are those from 0 again.
            if isRestarted { clock.restart() }
            let begin = 100 * (timeline + 1)
            let timestamp = UInt32(timeline + 1) << 29
            let placements = try Self.place(begin..<(begin + 100), of: &clock, timestamp: timestamp) {
                Self.number($0 - begin)
            }
            #expect(placements.map(\.beginsTimeline) == [true] + [Bool](repeating: false, count: 99))
            let first = placements[0].presentationTime.nanoseconds
            #expect(first > last)
            for (index, placement) in placements.enumerated() {
                let expected = first + Int64(Self.number(index)) * 40_000_000
                #expect(placement.presentationTime.nanoseconds == expected)
                #expect(placement.decodeTime <= placement.presentationTime)
            }
            last = placements.map(\.presentationTime.nanoseconds).max() ?? 0
        }
        #expect(clock.timelines == 2)
    }

    @Test func `an order that is not needed any more is given up`() throws {
        var clock = StreamClock(clockRate: 90000)
        _ = try Self.place(0..<100, of: &clock)
        let plain = try Self.place(100..<700, of: &clock) { $0 }
        #expect(plain[50].decodeTime < plain[50].presentationTime)
        #expect(plain.dropFirst(520).allSatisfy { $0.decodeTime == $0.presentationTime })
        #expect(zip(plain, plain.dropFirst()).allSatisfy { $0.decodeTime < $1.decodeTime })
    }
}
