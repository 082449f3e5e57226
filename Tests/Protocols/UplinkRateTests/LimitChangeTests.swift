import Testing

@testable import UplinkRate

/// What is configured changes while a link is followed.
struct LimitChangeTests {
    private static let limits = UplinkRate.Limits(least: 100_000, most: 1_000_000)

    /// Readings of ten seconds of a link that has enough, or, of `bitrate`, too little.
    private func after(_ rate: UplinkRate, from second: UInt64, of bitrate: UInt64? = nil) -> UplinkRate {
        var rate = rate
        for tenth in second * 10..<(second + 10) * 10 {
            let outstanding: UInt64 = bitrate.map { $0 / 8 } ?? 0
            _ = rate.take(
                LinkReading(
                    instant: tenth * 100_000_000, queueDuration: 0, outstanding: outstanding,
                    delivered: tenth * (bitrate ?? 1_000_000) / 80, roundTrip: 1_000_000,
                    leastRoundTrip: 1_000_000, frames: tenth * 3, audio: 0))
        }
        return rate
    }

    @Test func `where nothing held it back, the new most is the target at once`() {
        var rate = after(UplinkRate(Self.limits), from: 1)
        rate.change(.init(least: 200_000, most: 2_000_000), encoder: 2_000_000)
        #expect(rate.target == 2_000_000)
        rate = after(rate, from: 11)
        #expect(rate.target == 2_000_000 && rate.pace.bitrate == 2_000_000 && rate.pace.changedAt == nil)
    }

    @Test func `where the link bears less, it stays with what it bears`() {
        var rate = after(UplinkRate(Self.limits), from: 1, of: 400_000)
        let target = rate.target
        #expect(target < 400_000)
        rate.change(.init(least: 100_000, most: 2_000_000), encoder: rate.pace.bitrate)
        #expect(rate.target == target)
        rate.change(.init(least: 50_000, most: 80_000), encoder: 80_000)
        #expect(rate.target == 80_000 && rate.pace.bitrate == 80_000)
        rate.change(.init(least: 90_000, most: 900_000), encoder: 80_000)
        // The encoder comes up to it.
        rate = after(rate, from: 11)
        #expect(rate.target > 90_000 && rate.pace.bitrate > 90_000)
    }
}
