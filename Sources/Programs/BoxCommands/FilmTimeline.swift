import Archive
import Media

/// Puts recordings behind each other as their times say: what was recorded without a gap goes on without one, a short gap stays as long as it
/// was, a long one becomes a second.
struct FilmTimeline {
    /// Where two recordings do not go on into each other.
    struct Seam: Equatable {
        enum Reason: String, Codable {
            /// Nothing was recorded in between.
            case gap
            /// The box's clock was set back: the second begins, by its name, before the first one ended.
            case clockSetBack
        }

        var reason: Reason
        /// In the film.
        var place: MediaTime
        /// Milliseconds since 1970: where one ends, and where the other begins.
        var from: Int64
        var to: Int64
        /// Milliseconds of it that are left in the film.
        var kept: Int64
    }

    private(set) var seams: [Seam] = []
    /// Of the first frame that was placed, and of the end of the last, by the recordings' clock: milliseconds since 1970.
    private(set) var begin: Int64?
    private(set) var end: Int64 = 0
    private var isRecordingNew = true

    private struct Track {
        /// Of decoding.
        var last: Int64
        /// When the latest one is shown, which may be another.
        var shown: Int64
        var step: Int64
    }

    private var video: Track?
    private var audio: Track?
    /// What the recording that is placed now begins at, by its name, and in the film in nanoseconds.
    private var recordingBegin: Int64 = 0
    private var shift: Int64 = 0
    /// Nanoseconds by which its own times are ahead of the time since it began.
    private var lead: Int64 = 0
    /// Milliseconds that its clock is ahead of the film.
    private var ahead: Int64?
    private var filmBegin: Int64?

    /// Milliseconds. A longer gap is not worth waiting for.
    static let longestGap: Int64 = 10_000
    static let shortenedGap: Int64 = 1000
    /// Nanoseconds from the beginning of one archive: 100 days, so that nothing overflows whatever a film says.
    static let latest: Int64 = 8_640_000_000_000_000
    private static let earliest: Int64 = -10_000_000_000
    /// Nanoseconds.
    private static let longestStep: Int64 = 1_000_000_000

    /// How long the film is so far.
    var duration: MediaTime { MediaTime(nanoseconds: max(0, filmEnd - (filmBegin ?? filmEnd))) }

    /// Whether what an archive says of a frame can be its time.
    static func isTime(_ unit: AccessUnit) -> Bool {
        isTime(unit.decodeTime) && isTime(unit.presentationTime)
    }

    static func isTime(_ time: MediaTime) -> Bool { (earliest...latest).contains(time.nanoseconds) }

    /// The next recording.
    ///
    /// - Parameters:
    ///   - begin: when its first frame was captured, in milliseconds since 1970.
    ///   - lead: when that frame is shown, by the recording's own times: audio may come earlier.
    /// - Returns: false: the film is as long as one can be.
    mutating func beginRecording(_ begin: Int64, lead: MediaTime = .zero) -> Bool {
        guard filmEnd < Self.latest else { return false }
        recordingBegin = begin
        self.lead = lead.nanoseconds
        isRecordingNew = true
        guard let ahead, filmBegin != nil else {
            ahead = begin
            shift = -lead.nanoseconds
            return true
        }
        let end = filmEnd
        let distance = begin - ahead - end / 1_000_000
        var removed: Int64 = 0
        if distance > Self.longestGap {
            removed = distance - Self.shortenedGap
        } else if distance < -RecordingSpans.tolerance {
            removed = distance
        }
        self.ahead = ahead + removed
        // By a little they reach into each other when the clock is adjusted: no frame may come before the one that it follows.
        shift = max((begin - ahead - removed) * 1_000_000, end) - lead.nanoseconds
        if abs(distance) > RecordingSpans.tolerance {
            seams.append(
                Seam(
                    reason: distance > 0 ? .gap : .clockSetBack, place: duration, from: self.end, to: begin,
                    kept: max(0, distance - removed)))
        }
        return true
    }

    /// A unit of the recording, with its time in the film.
    mutating func placed(_ unit: AccessUnit) -> AccessUnit {
        var placed = unit
        placed.decodeTime = unit.decodeTime + MediaTime(nanoseconds: shift)
        placed.presentationTime = unit.presentationTime + MediaTime(nanoseconds: shift)
        let isFirst = begin == nil || unit.track.isVideo && video == nil
        if unit.track.isVideo { Self.follow(placed, in: &video, step: 40_000_000) }
        if !unit.track.isVideo { Self.follow(placed, in: &audio, step: 21_333_333) }
        let wall = recordingBegin + MediaTime(nanoseconds: unit.presentationTime.nanoseconds - lead).milliseconds
        filmBegin = filmBegin ?? placed.presentationTime.nanoseconds
        // Of the video where there is one, also when a little of the audio is before it.
        if isFirst { begin = wall }
        let unitEnd = wall + ((unit.track.isVideo ? video : audio)?.step ?? 0) / 1_000_000
        end = isRecordingNew ? unitEnd : max(end, unitEnd)
        isRecordingNew = false
        return placed
    }

    /// Of the video, or of the audio where there is none: that of the audio reaches a part of a frame further.
    private var filmEnd: Int64 { (video ?? audio).map { $0.shown + $0.step } ?? 0 }

    private static func follow(_ unit: AccessUnit, in track: inout Track?, step: Int64) {
        let time = unit.decodeTime.nanoseconds
        let shown = unit.presentationTime.nanoseconds
        let known = track.map { min(max(time - $0.last, 0), longestStep) }
        track = Track(
            last: time, shown: max(shown, track?.shown ?? shown),
            step: known.flatMap { $0 > 0 ? $0 : nil } ?? track?.step ?? step)
    }
}
