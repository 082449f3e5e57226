import Archive
import BoxView
import Console

/// What is recorded, as `archive list` says it. Times are ISO 8601, UTC.
struct RecordingsDocument: Codable, Equatable {
    struct Span: Codable, Equatable {
        var from: String
        var to: String
        /// Of media.
        var seconds: Double
        var bytes: Int64
        var files: Int
    }

    /// Between two spans.
    struct Gap: Codable, Equatable {
        var from: String
        var to: String
        var seconds: Double
    }

    /// Where a span ends because the box's clock was set back while it recorded.
    struct ClockStep: Codable, Equatable {
        var from: String
        var to: String
    }

    struct File: Codable, Equatable {
        var file: String
        var from: String
        var to: String
        var bytes: Int64
        var pinned: Bool
    }

    struct Camera: Codable, Equatable {
        var camera: String
        /// Whether something is recorded now that may be of the time asked for: it is not in the spans yet.
        var recordsNow: Bool
        /// Recordings that a power cut left: they are finished when the camera is recorded again.
        var unfinished: Int
        var seconds: Double
        var bytes: Int64
        var files: Int
        var pinned: Int
        /// The first time and the last of what is listed; nil: nothing is.
        var from: String?
        var to: String?
        var spans: [Span]
        var gaps: [Gap]
        var clockSteps: [ClockStep]
        /// Each of them, with `--files`.
        var recordings: [File]?
    }

    var schema = "watchbox.recordings/1"
    var directory: String
    var cameras: [Camera]
}

extension RecordingsDocument.Camera {
    init(_ camera: String, _ listing: RecordedListing, hasFiles: Bool) {
        let joined = RecordingSpans(listing.recordings)
        let total = joined.total
        self.init(
            camera: camera, recordsNow: listing.recordsNow, unfinished: listing.unfinished,
            seconds: Double(total.duration) / 1000, bytes: total.bytes, files: total.files, pinned: total.pinned,
            from: joined.spans.isEmpty ? nil : CalendarTime.iso8601(total.from),
            to: joined.spans.isEmpty ? nil : CalendarTime.iso8601(total.to),
            spans: joined.spans.map {
                .init(
                    from: CalendarTime.iso8601($0.from), to: CalendarTime.iso8601($0.to),
                    seconds: Double($0.duration) / 1000,
                    bytes: $0.bytes, files: $0.files)
            }, gaps: [], clockSteps: [],
            recordings: hasFiles
                ? listing.recordings.map {
                    .init(
                        file: $0.name.fileName, from: CalendarTime.iso8601($0.name.begin),
                        to: CalendarTime.iso8601($0.name.end), bytes: $0.size, pinned: $0.name.isPinned)
                } : nil)
        for (index, reason) in joined.breaks.enumerated() {
            let end = joined.spans[index].to
            let begin = joined.spans[index + 1].from
            switch reason {
            case .gap:
                gaps.append(
                    .init(
                        from: CalendarTime.iso8601(end), to: CalendarTime.iso8601(begin),
                        seconds: Double(begin - end) / 1000))
            case .clockSetBack:
                clockSteps.append(.init(from: CalendarTime.iso8601(end), to: CalendarTime.iso8601(begin)))
            }
        }
    }
}

/// What is recorded of one camera, for people.
struct RecordingsView {
    let camera: String
    let listing: RecordedListing
    let clock: LocalClock

    /// A picture on a screen; a table elsewhere.
    func lines(_ style: Style, header: Bool) -> [String] {
        let joined = RecordingSpans(listing.recordings)
        let total = joined.total
        guard !joined.spans.isEmpty else {
            return [style.paint(camera, .strong) + ": " + nothing]
        }
        var summary =
            ": \(Quantity.time(seconds: Double(total.duration / 1000))) in "
            + "\(Quantity.count(total.files, "recording")), \(Quantity.bytes(Int(total.bytes)))"
        if total.pinned > 0 { summary += ", \(total.pinned) pinned" }
        if listing.recordsNow { summary += "; recording now" }
        if let text = RecordedListing.unfinishedText(listing.unfinished) { summary += "; \(text)" }
        let times = "oldest \(clock.text(total.from)), newest \(clock.text(total.to))"
        let content =
            style.isEndless
            ? table(joined).lines(style, header: header)
            : RecordingPicture(
                listing.recordings.map { .init(from: $0.name.begin, to: $0.name.end, isPinned: $0.name.isPinned) },
                clock: clock
            ).lines(style)
        return [style.paint(camera, .strong) + summary, style.paint("  \(times)", .faint)] + content
    }

    /// Why there is nothing to show.
    private var nothing: String {
        var parts = [listing.newestEnd == nil ? "nothing" : "nothing in that time"]
        if listing.recordsNow {
            parts =
                listing.newestEnd == nil
                ? ["recording now, and nothing is finished"] : parts + ["recording now"]
        }
        if let text = RecordedListing.unfinishedText(listing.unfinished) { parts.append(text) }
        return parts.joined(separator: "; ")
    }

    private func table(_ joined: RecordingSpans) -> Table {
        Table(
            [
                .init("FROM", isIdentifier: true), .init("TO", isIdentifier: true), .init("LENGTH", .right),
                .init("SIZE", .right), .init("FILES", .right), .init("PINNED", .right), .init("THEN"),
            ],
            rows: joined.spans.enumerated().map { index, span in
                [
                    .init(clock.text(span.from)), .init(clock.text(span.to)),
                    .init(Quantity.time(seconds: Double(span.duration / 1000))),
                    .init(Quantity.bytes(Int(span.bytes))), .init("\(span.files)"), .init("\(span.pinned)"),
                    .init(
                        index < joined.breaks.count ? then(joined, index) : listing.recordsNow ? "recording now" : ""),
                ]
            })
    }

    private func then(_ joined: RecordingSpans, _ index: Int) -> String {
        switch joined.breaks[index] {
        case .gap:
            let seconds = Double(joined.spans[index + 1].from - joined.spans[index].to) / 1000
            return "nothing for \(Quantity.time(seconds: seconds))"
        case .clockSetBack: return "the clock was set back"
        }
    }
}
