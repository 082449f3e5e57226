public import ControlAPI
internal import Wire

extension RecordingsDocument.Camera {
    /// - Parameters:
    ///   - hasFiles: also each recording.
    ///   - previous: what was made before the first of them, when what is between them counts as well.
    public init(
        _ camera: String, _ listing: RecordedListing, hasFiles: Bool, previous: RecordingDirectory.Recording? = nil
    ) {
        let joined = RecordingSpans(listing.recordings)
        let total = joined.total
        self.init(camera: camera)
        recordsNow = listing.recordsNow
        unfinished = listing.unfinished
        seconds = Double(total.duration) / 1000
        bytes = total.bytes
        files = total.files
        pinned = total.pinned
        if !joined.spans.isEmpty {
            from = CalendarTime.iso8601(total.from)
            to = CalendarTime.iso8601(total.to)
        }
        spans = joined.spans.map {
            .init(
                from: CalendarTime.iso8601($0.from), to: CalendarTime.iso8601($0.to),
                seconds: Double($0.duration) / 1000, bytes: $0.bytes, files: $0.files)
        }
        notLive = NotLive(joined.spans, listing.liveGaps).parts.map {
            .init(
                from: CalendarTime.iso8601($0.from), to: CalendarTime.iso8601($0.to),
                seconds: Double($0.to - $0.from) / 1000)
        }
        if hasFiles {
            recordings = listing.recordings.map {
                .init(
                    file: $0.name.fileName, from: CalendarTime.iso8601($0.name.begin),
                    to: CalendarTime.iso8601($0.name.end), bytes: $0.size, pinned: $0.name.isPinned)
            }
        }
        if let end = previous?.name.end, let begin = joined.spans.first?.from,
            let found = RecordingSpans.found(between: end, and: begin)
        {
            add(found, end, begin)
        }
        for (index, found) in joined.breaks.enumerated() {
            add(found, joined.spans[index].to, joined.spans[index + 1].from)
        }
    }

    /// A page of it.
    public init(_ camera: String, _ page: RecordingPage) {
        self.init(camera, page.listing, hasFiles: true, previous: page.previous)
        next = page.next?.fileName
    }

    private mutating func add(_ found: RecordingSpans.Break, _ end: Int64, _ begin: Int64) {
        let (from, to) = (CalendarTime.iso8601(end), CalendarTime.iso8601(begin))
        switch found {
        case .gap: gaps.append(.init(from: from, to: to, seconds: Double(begin - end) / 1000))
        case .clockSetBack: clockSteps.append(.init(from: from, to: to))
        }
    }
}
