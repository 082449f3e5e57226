/// Of what was recorded, the parts that nobody saw live: in the order of time, and none of them over another.
public struct NotLive: Equatable, Sendable {
    public struct Part: Equatable, Sendable {
        /// Milliseconds since 1970.
        public var from: Int64
        public var to: Int64
    }

    public private(set) var parts: [Part] = []

    /// There are no more parts than spans and gaps together, whatever these say.
    ///
    /// - Parameters:
    ///   - spans: what is recorded; where a clock was set back, two may be of the same time.
    ///   - gaps: in any order.
    public init(_ spans: [RecordingSpans.Span], _ gaps: [LiveGap]) {
        let recorded = Self.joined(spans.map { Part(from: $0.from, to: $0.to) })
        let missed = Self.joined(gaps.map { Part(from: $0.from, to: $0.to ?? .max) })
        var span = 0
        var gap = 0
        while span < recorded.count, gap < missed.count {
            let from = max(recorded[span].from, missed[gap].from)
            let to = min(recorded[span].to, missed[gap].to)
            if from < to, to - from > RecordingSpans.tolerance { parts.append(Part(from: from, to: to)) }
            if recorded[span].to < missed[gap].to { span += 1 } else { gap += 1 }
        }
    }

    /// Milliseconds in all.
    public var duration: Int64 { parts.reduce(0) { $0 + $1.to - $1.from } }

    /// Milliseconds of it within a span.
    public func duration(within span: RecordingSpans.Span) -> Int64 {
        // The first that ends behind its beginning.
        var low = 0
        var high = parts.count
        while low < high {
            let middle = (low + high) / 2
            if parts[middle].to > span.from { high = middle } else { low = middle + 1 }
        }
        return parts[low...].prefix { $0.from < span.to }.reduce(0) { sum, part in
            sum + min(part.to, span.to) - max(part.from, span.from)
        }
    }

    private static func joined(_ parts: [Part]) -> [Part] {
        var joined: [Part] = []
        for part in parts.sorted(by: { $0.from < $1.from }) where part.to > part.from {
            if let last = joined.last, part.from <= last.to {
                joined[joined.count - 1].to = max(last.to, part.to)
            } else {
                joined.append(part)
            }
        }
        return joined
    }
}
