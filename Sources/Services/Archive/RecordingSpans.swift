/// Recordings of a camera, joined where one goes on where the one before ended.
public struct RecordingSpans: Equatable, Sendable {
    public struct Span: Equatable, Sendable {
        /// Milliseconds since 1970.
        public var from: Int64
        public var to: Int64
        /// Milliseconds of media in it.
        public var duration: Int64
        public var bytes: Int64
        public var files: Int
        public var pinned: Int
    }

    /// Where one ends and the next begins.
    public enum Break: Equatable, Sendable {
        /// Nothing is recorded in between.
        case gap
        /// The next one begins before this one ended: the clock was set back.
        case clockSetBack
    }

    public private(set) var spans: [Span] = []
    /// Behind each span but the last.
    public private(set) var breaks: [Break] = []

    /// Milliseconds by which one may begin later, or earlier, than the one before ended, and still go on with it.
    public static let tolerance: Int64 = 2000

    /// - Parameter recordings: in the order in which they were made.
    public init(_ recordings: [RecordingDirectory.Recording]) {
        for recording in recordings {
            let name = recording.name
            let alone = Span(
                from: name.begin, to: name.end, duration: Int64(name.duration), bytes: max(0, recording.size), files: 1,
                pinned: name.isPinned ? 1 : 0)
            guard let last = spans.last else {
                spans.append(alone)
                continue
            }
            guard let found = Self.found(between: last.to, and: name.begin) else {
                spans[spans.count - 1].add(alone)
                continue
            }
            spans.append(alone)
            breaks.append(found)
        }
    }

    /// What is between the end of one and the begin of the next; nil: it goes on.
    public static func found(between end: Int64, and begin: Int64) -> Break? {
        let distance = begin - end
        guard abs(distance) > tolerance else { return nil }
        return distance > 0 ? .gap : .clockSetBack
    }

    public var total: Span {
        var total = Span(from: .max, to: 0, duration: 0, bytes: 0, files: 0, pinned: 0)
        for span in spans {
            total.from = min(total.from, span.from)
            total.add(span)
        }
        if spans.isEmpty { total.from = 0 }
        return total
    }
}

extension RecordingSpans.Span {
    /// Of sizes only the sum may be too large for a number: files with holes may be of any size.
    fileprivate mutating func add(_ other: Self) {
        to = max(to, other.to)
        duration += other.duration
        let (sum, isTooLarge) = bytes.addingReportingOverflow(other.bytes)
        bytes = isTooLarge ? .max : sum
        files += other.files
        pinned += other.pinned
    }
}
