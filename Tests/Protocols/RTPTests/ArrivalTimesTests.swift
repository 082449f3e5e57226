import Media
import RTP
import TestSupport
import Testing

/// Times from arrivals, for time stamps that mean nothing.
struct ArrivalTimesTests {
    private struct Sent {
        var timestamp: UInt32
        var arrival: UInt64
    }

    /// Frames every 40 ms, 0 to 20 ms late.
    private func sent(_ count: Int, timestamp: (Int) -> UInt32) -> [Sent] {
        var random = SeededGenerator(seed: 3)
        return (0..<count).map { index in
            Sent(
                timestamp: timestamp(index),
                arrival: 1000 * second + UInt64(index) * 40 * millisecond
                    + UInt64.random(in: 0...(20 * millisecond), using: &random))
        }
    }

    private func place(_ sent: [Sent], _ policy: StreamClock.Policy) throws -> (StreamClock, [StreamClock.Placement]) {
        var clock = StreamClock(clockRate: 90000, policy: policy)
        let placements = try sent.map { sent in
            let placement = clock.place(sent.timestamp, arrival: sent.arrival)
            return try #require(placement)
        }
        #expect(zip(placements, placements.dropFirst()).allSatisfy { $0.decodeTime < $1.decodeTime })
        #expect(placements.allSatisfy { $0.decodeTime <= $0.presentationTime })
        return (clock, placements)
    }

    private func lateness(_ sent: [Sent], _ placements: [StreamClock.Placement]) -> [Int64] {
        zip(sent, placements).map { Int64($0.arrival) - $1.presentationTime.nanoseconds }
    }

    @Test(arguments: [0, 1, 360, 36000] as [UInt32])
    func `whatever a time stamp says, a frame is placed at its arrival, evened out`(ticks: UInt32) throws {
        let sent = sent(5000) { UInt32($0) &* ticks }
        let (clock, placements) = try place(sent, .arrival)
        #expect(clock.basis == .arrival)
        #expect(lateness(sent, placements).allSatisfy { (-1_000_000...60_000_000).contains($0) })
        let presented = placements.dropFirst(100).map(\.presentationTime.nanoseconds)
        #expect(zip(presented, presented.dropFirst()).allSatisfy { (20_000_000...60_000_000).contains($1 - $0) })
    }

    @Test func `time stamps at random`() throws {
        var random = SeededGenerator(seed: 4)
        let sent = sent(5000) { _ in UInt32(truncatingIfNeeded: random.next()) }
        let (_, placements) = try place(sent, .arrival)
        #expect(lateness(sent, placements).allSatisfy { (-1_000_000_000...200_000_000).contains($0) })
    }

    @Test(arguments: StreamClock.Policy.allCases, [1, 2, 3] as [UInt64])
    func `whatever comes, decode times increase and nothing stands far ahead`(policy: StreamClock.Policy, seed: UInt64)
    {
        var random = SeededGenerator(seed: seed)
        var clock = StreamClock(clockRate: [1, 90000, 1 << 32][Int(seed % 3)], policy: policy)
        var arrival: UInt64 = 0
        var timestamp: UInt32 = 0
        var last = Int64.min
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<50, using: &random) {
            case 0: timestamp = UInt32(truncatingIfNeeded: random.next())
            case 1: arrival &+= UInt64.random(in: 0...(1 << 50), using: &random)
            case 2..<10: timestamp &-= UInt32.random(in: 0..<9000, using: &random)
            case 10..<20: break
            default: timestamp &+= UInt32.random(in: 0..<9000, using: &random)
            }
            arrival &+= UInt64.random(in: 0..<(100 * millisecond), using: &random)
            guard let placement = clock.place(timestamp, arrival: arrival) else { continue }
            #expect(placement.decodeTime.nanoseconds > last && placement.decodeTime <= placement.presentationTime)
            last = placement.decodeTime.nanoseconds
            #expect(last - Int64(min(arrival, UInt64(Int64.max / 2))) <= 1_000_000_000)
        }
        _ = clock.place(timestamp, arrival: .max)
        _ = clock.place(timestamp &+ 1, arrival: .max)
    }

    @Test func `time stamps that stand still are left for arrivals`() throws {
        let sent = sent(3000) { UInt32(min($0, 500)) * 3600 }
        let (clock, placements) = try place(sent, .auto)
        #expect(clock.basis == .arrival && clock.timelines == 0)
        let lateness = lateness(sent, placements)
        #expect(lateness.allSatisfy { $0 < 5_000_000_000 })
        #expect(lateness.dropFirst(750).allSatisfy { (-1_000_000...60_000_000).contains($0) })
    }

    @Test(arguments: [StreamClock.Policy.arrival, .auto])
    func `frames out of presentation order keep theirs`(policy: StreamClock.Policy) throws {
        // I, P, B, B, P, B, B …: by the camera's clock at half the rate.
        let order = (0..<3000).map { $0 == 0 ? 0 : $0 % 3 == 1 ? $0 + 2 : $0 - 1 }
        var random = SeededGenerator(seed: 5)
        let sent = order.enumerated().map { index, place in
            Sent(
                timestamp: UInt32(place * 1800),
                arrival: 1000 * second + UInt64(index) * 40 * millisecond
                    + UInt64.random(in: 0...(20 * millisecond), using: &random))
        }
        let (clock, placements) = try place(sent, policy)
        #expect(clock.timelines == 0)
        // Behind the first frames, whose order had to be learned.
        let shown = zip(order, placements).dropFirst(10).sorted { $0.0 < $1.0 }.map(\.1.presentationTime)
        #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 < $1 })
        #expect(lateness(sent, placements).allSatisfy { (-400_000_000...500_000_000).contains($0) })
        if policy == .auto, case .corrected(let speed) = clock.basis {
            #expect(abs(speed - 0.5) < 0.01)
        } else {
            #expect(policy == .arrival)
        }
    }
}
