import Archive
import BoxView
import Console

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
        let notLive = NotLive(joined.spans, listing.liveGaps)
        if notLive.duration > 0 {
            summary += "; \(Quantity.time(seconds: Double(notLive.duration) / 1000)) of it not seen live"
        }
        let times = "oldest \(clock.text(total.from)), newest \(clock.text(total.to))"
        let content =
            style.isEndless
            ? table(joined, notLive).lines(style, header: header)
            : RecordingPicture(
                listing.recordings.map { .init(from: $0.name.begin, to: $0.name.end, isPinned: $0.name.isPinned) },
                notLive: notLive.parts.map { ($0.from, $0.to) }, clock: clock
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

    private func table(_ joined: RecordingSpans, _ notLive: NotLive) -> Table {
        Table(
            [
                .init("FROM", isIdentifier: true), .init("TO", isIdentifier: true), .init("LENGTH", .right),
                .init("SIZE", .right), .init("FILES", .right), .init("PINNED", .right), .init("NOT LIVE", .right),
                .init("THEN"),
            ],
            rows: joined.spans.enumerated().map { index, span in
                [
                    .init(clock.text(span.from)), .init(clock.text(span.to)),
                    .init(Quantity.time(seconds: Double(span.duration / 1000))),
                    .init(Quantity.bytes(Int(span.bytes))), .init("\(span.files)"), .init("\(span.pinned)"),
                    .init(Self.notLive(notLive, in: span)),
                    .init(
                        index < joined.breaks.count ? then(joined, index) : listing.recordsNow ? "recording now" : ""),
                ]
            })
    }

    /// - Returns: how long of it was not seen live; nothing where all was.
    private static func notLive(_ parts: NotLive, in span: RecordingSpans.Span) -> String {
        let duration = parts.duration(within: span)
        return duration > 0 ? Quantity.time(seconds: Double(duration) / 1000) : ""
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
