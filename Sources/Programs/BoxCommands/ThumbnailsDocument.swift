import Archive
import BoxView
import Console
import Wire

/// What `archive thumbnails` made.
struct ThumbnailsDocument: Codable, Equatable {
    struct Picture: Codable, Equatable {
        /// The recording's name.
        var file: String
        /// When the recording begins, ISO 8601.
        var at: String
        /// Of the recording.
        var seconds: Double
        /// Of the JPEG.
        var bytes: Int
    }

    /// A recording without a picture.
    struct Skipped: Codable, Equatable {
        var file: String
        var at: String
        var reason: String
    }

    var schema = "watchbox.archive.thumbnails/1"
    var camera: String
    /// The page.
    var path: String
    /// Of it.
    var bytes: Int64 = 0
    /// That have something of the time.
    var recordings: Int
    /// Seconds of which there is one picture at most; nil: each recording has one.
    var every: Int64?
    var pictures: [Picture] = []
    var skipped: [Skipped] = []
    /// More is being recorded than has a picture.
    var recordsNow: Bool
    /// How many recordings a power cut or a kill left, of which there is no picture.
    var unfinished: Int

    init(camera: String, path: String, recordings: Int, every: Int64?, recordsNow: Bool, unfinished: Int) {
        self.camera = camera
        self.path = path
        self.recordings = recordings
        self.every = every
        self.recordsNow = recordsNow
        self.unfinished = unfinished
    }

    mutating func add(_ tile: ThumbnailPage.Tile) {
        let at = CalendarTime.iso8601(tile.begin)
        switch tile.content {
        case .jpeg(let bytes):
            pictures.append(
                .init(file: tile.file, at: at, seconds: Double(tile.duration) / 1000, bytes: bytes.count))
        case .nothing(let reason): skipped.append(.init(file: tile.file, at: at, reason: reason))
        }
    }

    /// Of how many there are pictures, for people.
    var summary: String {
        var text =
            "\(Quantity.count(pictures.count, "picture")) of \(camera), of \(Quantity.count(recordings, "recording"))"
        if let every { text += ", one for each \(WrittenDuration(seconds: every).text) at most" }
        if !skipped.isEmpty { text += "; \(skipped.count) without one" }
        return text
    }

    func lines() -> [String] {
        var lines = ["\(path): \(summary), \(Quantity.bytes(Int(bytes)))."]
        lines += skipped.prefix(Self.shown).map { "    \($0.file): no picture: \($0.reason)" }
        if skipped.count > Self.shown { lines.append("    and \(skipped.count - Self.shown) more: --json lists them") }
        if recordsNow { lines.append("    what is being recorded now is in it as far as it is written") }
        if let text = RecordedListing.unfinishedText(unfinished) { lines.append("    \(text)") }
        return lines.map { Style.oneLine(ShownText.line($0, bytes: 1000, mark: "…")) }
    }

    /// Recordings without a picture that people are told of by their names.
    private static let shown = 10
}
