/// How long something took, counted in classes: what percentiles and Prometheus histograms are made of.
public struct DurationHistogram: Codable, Equatable, Sendable {
    /// Upper ends of the classes, nanoseconds; one more class is above the last.
    public static let limits: [UInt64] = [
        50_000, 100_000, 200_000, 300_000, 500_000, 700_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000,
        33_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000,
    ]

    /// Of each class, the one above the last limit included.
    public private(set) var counts = [UInt64](repeating: 0, count: limits.count + 1)
    /// Of all durations, nanoseconds.
    public private(set) var total: UInt64 = 0

    public init() {}

    public var count: UInt64 { counts.reduce(0, +) }

    public mutating func took(_ nanoseconds: UInt64) {
        counts[Self.limits.firstIndex { nanoseconds <= $0 } ?? Self.limits.count] += 1
        total &+= nanoseconds
    }

    /// The upper end of the class that holds this part of all durations, nanoseconds; nil without any, or above the
    /// last limit.
    public func percentile(_ part: Double) -> UInt64? {
        let rank = Double(count) * min(max(part, 0), 1)
        var seen: UInt64 = 0
        for (index, limit) in Self.limits.enumerated() {
            seen += counts[index]
            if seen > 0, Double(seen) >= rank { return limit }
        }
        return nil
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let counts = try fields.decode([UInt64].self, forKey: .counts)
        let total = try fields.decode(UInt64.self, forKey: .total)
        // From another version's classes nothing can be said.
        if counts.count == self.counts.count, counts.allSatisfy({ $0 < 1 << 56 }) {
            self.counts = counts
            self.total = total
        }
    }
}
