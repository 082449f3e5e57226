import Archive
import BoxView
import Console
import Wire

/// What the commands about binders print: what is in one, and what was verified of it.
struct BinderDocument: Codable, Equatable {
    /// Recordings that follow each other.
    struct Span: Codable, Equatable {
        /// ISO 8601, as their names say.
        var from: String
        var to: String
        var recordings: Int
    }

    var schema = "watchbox.archive.binder/1"
    var file: String
    var verified: ArchiveDocument.Verified
    /// As whoever bound it said.
    var camera: String
    /// Of all its recordings, as their policies say, verified; nil: they name none, or nobody had their keys.
    var stream: String?
    /// The time that was asked for, ISO 8601.
    var from: String
    var to: String
    /// Bytes of the file.
    var size: Int64
    /// How many recordings are in it.
    var recordings: Int
    var spans: [Span]
    /// The time that was asked for goes on in a recording that was not finished when it was bound; nil: nobody looked.
    var recordsNow: Bool?
    /// How many recordings a power cut or a kill left, which are not in it; nil: nobody looked.
    var unfinished: Int?

    init(_ binder: BinderReader, file: String, verified: ArchiveDocument.Verified) {
        self.file = file
        self.verified = verified
        camera = binder.index.camera
        from = binder.index.from
        to = binder.index.to
        size = binder.size
        recordings = binder.recordings.count
        spans = Self.spans(binder).spans.map {
            Span(from: CalendarTime.iso8601($0.from), to: CalendarTime.iso8601($0.to), recordings: $0.files)
        }
    }

    private static func spans(_ binder: BinderReader) -> RecordingSpans {
        RecordingSpans(binder.recordings.map { .init(name: $0.name, size: $0.file.size) })
    }

    /// - Parameters:
    ///   - action: what was done with it, in the past.
    ///   - clock: for people.
    func lines(_ action: String, _ binder: BinderReader, _ clock: LocalClock) -> [String] {
        var lines = [
            "\(file): \(action).",
            "    \(Quantity.count(recordings, "recording")) of \(camera), \(Quantity.bytes(Int(size)))"
                + (stream.map { ", of stream \(ShownText.line($0, bytes: 60, mark: "…"))" } ?? ""),
        ]
        let spans = Self.spans(binder).spans
        lines += spans.prefix(Self.shownSpans).map {
            "    \(clock.text($0.from)) to \(clock.brief($0.to, beside: $0.from))"
        }
        if spans.count > Self.shownSpans {
            lines.append("    and \(Quantity.count(spans.count - Self.shownSpans, "more span")), which --json has")
        }
        if recordsNow == true {
            lines.append("    What is being recorded now is not in it: that can be bound when it is finished")
        }
        if let text = RecordedListing.unfinishedText(unfinished ?? 0) { lines.append("    \(text)") }
        return lines.map { Style.oneLine(ShownText.line($0, bytes: 1000, mark: "…")) }
    }

    private static let shownSpans = 20
}
