import Archive
import BoxView
import Media
import MediaFile
import Wire

/// What `archive export` wrote.
struct ArchiveExportDocument: Codable, Equatable {
    /// Where recordings do not go on into each other.
    struct Seam: Codable, Equatable {
        var reason: FilmTimeline.Seam.Reason
        /// Seconds from the beginning of the film.
        var at: Double
        /// ISO 8601: where one recording ends, and the next begins.
        var from: String
        var to: String
        /// Seconds of it that are left in the film.
        var kept: Double
    }

    var schema = "watchbox.archive.export/1"
    var output: String
    /// The stream that the archives are of, as their policies say; nil: they name none.
    var stream: String?
    /// Archives that were opened.
    var archives: Int
    /// Of the first frame and the end of the last, ISO 8601; nil: nobody knows when it was recorded.
    var from: String?
    var to: String?
    /// Of the film.
    var seconds: Double
    var bytes: Int
    var videoFrames: Int
    var audioFrames: Int
    var seams: [Seam]
    /// The time that was asked for goes on in what is being recorded, which is not written so far.
    var recordsNow: Bool
    /// How many recordings a power cut or a kill left, which nothing is taken from; nil: nobody looked.
    var unfinished: Int?
    /// Seconds of the film that an interrupted export had left, and this one took over; nil: it was written in one go.
    var resumedAt: Double?
    /// Of an archive that was made of it, as of ``ArchiveDocument``; nil: it is an MP4 file.
    var profile: String?
    var kas: String?
    var kid: String?
    var attributes: [String]?
    var dissem: [String]?

    /// Says what was made, and for whom.
    mutating func say(_ archive: ArchiveDocument) {
        profile = archive.profile
        kas = archive.kas
        kid = archive.kid
        attributes = archive.attributes
        dissem = archive.dissem
        audience = archive.audience
    }

    /// Who may open the archive, for people.
    private var audience: String?

    private enum CodingKeys: String, CodingKey {
        case schema, output, stream, archives, from, to, seconds, bytes, videoFrames, audioFrames, seams, recordsNow
        case unfinished, resumedAt, profile, kas, kid, attributes, dissem
    }

    init(
        _ summary: MediaWriter.Summary, _ timeline: FilmTimeline, output: String, stream: String?, bytes: Int64,
        archives: Int, isWallTime: Bool, recordsNow: Bool
    ) {
        self.output = output
        self.stream = stream
        self.archives = archives
        from = isWallTime ? timeline.begin.map(CalendarTime.iso8601) : nil
        to = isWallTime ? CalendarTime.iso8601(timeline.end) : nil
        seconds = Double(timeline.duration.milliseconds) / 1000
        self.bytes = Int(bytes)
        videoFrames = summary.videoUnits
        audioFrames = summary.audioUnits
        seams = timeline.seams.map {
            .init(
                reason: $0.reason, at: Double($0.place.milliseconds) / 1000, from: CalendarTime.iso8601($0.from),
                to: CalendarTime.iso8601($0.to), kept: Double($0.kept) / 1000)
        }
        self.recordsNow = recordsNow
    }

    /// - Parameter asked: what was asked for.
    func lines(_ timeline: FilmTimeline, asked: RecordingRange, clock: LocalClock?) -> [String] {
        let begin = timeline.begin ?? 0
        let times =
            clock.map { ", \($0.text(begin)) to \($0.brief(timeline.end, beside: begin))" }
            ?? (begin > 0 ? ", from second \(Quantity.tenths(Double(begin) / 1000)) on" : "")
        var lines = [
            "\(output): \(Quantity.time(seconds: seconds))\(times), \(Quantity.bytes(bytes)) from "
                + "\(Quantity.count(archives, "archive"))."
        ]
        if let profile, let audience {
            lines.append("    Profile \(profile), \(audience), keys from \(kas ?? "no KAS")")
        }
        if asked.from != .min {
            let distance = Double(abs(begin - asked.from)) / 1000
            if abs(begin - asked.from) < Self.unseen {
                // Nobody looks for a difference of a few frames.
            } else if begin < asked.from {
                lines.append("    It begins \(Quantity.time(seconds: distance)) before --from, at a key frame")
            } else {
                lines.append(
                    "    It begins \(Quantity.time(seconds: distance)) after --from: nothing before that is recorded")
            }
        }
        for (seam, place) in zip(timeline.seams, seams.map(\.at)) {
            lines.append("    \(Quantity.time(seconds: place)) into it: \(text(seam, clock))")
        }
        if asked.to != .max, asked.to - timeline.end >= Self.unseen {
            let distance = Double(asked.to - timeline.end) / 1000
            let reason =
                recordsNow
                ? "what is being recorded now is written up to there, run it again for more"
                : clock == nil ? "the archive ends there" : "nothing behind that is recorded of the time"
            lines.append("    It ends \(Quantity.time(seconds: distance)) before --to: \(reason)")
        }
        if let text = RecordedListing.unfinishedText(unfinished ?? 0) { lines.append("    \(text)") }
        return lines.map { Style.oneLine(ShownText.line($0, bytes: 1000, mark: "…")) }
    }

    /// Milliseconds.
    private static let unseen: Int64 = 100

    private func text(_ seam: FilmTimeline.Seam, _ clock: LocalClock?) -> String {
        let from = clock.map { $0.text(seam.from) } ?? ""
        let to = clock.map { $0.brief(seam.to, beside: seam.from) } ?? ""
        switch seam.reason {
        case .gap:
            let seconds = Double(seam.to - seam.from) / 1000
            let length = Quantity.time(seconds: seconds < 10 ? seconds : seconds.rounded())
            let isCut = seam.kept < seam.to - seam.from - 1
            let kept = isCut ? ", cut to \(Quantity.time(seconds: Double(seam.kept) / 1000))" : ""
            return "nothing was recorded for \(length), \(from) to \(to)\(kept)"
        case .clockSetBack: return "the clock of the camera's machine was set back, from \(from) to \(to)"
        }
    }
}
