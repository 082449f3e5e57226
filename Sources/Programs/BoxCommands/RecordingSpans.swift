import Archive

/// Recordings of a camera, joined where one goes on where the one before ended.
struct RecordingSpans: Equatable {
    struct Span: Equatable {
        /// Milliseconds since 1970.
        var from: Int64
        var to: Int64
        /// Milliseconds of media in it.
        var duration: Int64
        var bytes: Int64
        var files: Int
        var pinned: Int
    }

    /// Where one ends and the next begins.
    enum Break: Equatable {
        /// Nothing is recorded in between.
        case gap
        /// The next one begins before this one ended: the clock was set back.
        case clockSetBack
    }

    private(set) var spans: [Span] = []
    /// Behind each span but the last.
    private(set) var breaks: [Break] = []

    /// Milliseconds by which one may begin later, or earlier, than the one before ended, and still go on with it.
    static let tolerance: Int64 = 2000

    /// - Parameter recordings: in the order in which they were made.
    init(_ recordings: [RecordingDirectory.Recording]) {
        for recording in recordings {
            let name = recording.name
            let alone = Span(
                from: name.begin, to: name.end, duration: Int64(name.duration), bytes: max(0, recording.size), files: 1,
                pinned: name.isPinned ? 1 : 0)
            guard let last = spans.last else {
                spans.append(alone)
                continue
            }
            let distance = name.begin - last.to
            guard abs(distance) > Self.tolerance else {
                spans[spans.count - 1].add(alone)
                continue
            }
            spans.append(alone)
            breaks.append(distance > 0 ? .gap : .clockSetBack)
        }
    }

    var total: Span {
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
