import Archive
import Console
import Media
import MediaFile

/// The film in one archive, as it is read: its units, and where in it a time is.
struct FilmReading {
    let source: FilmSource
    let bytes: ArchiveBytes
    /// Of errors: what is not written, and for times in them.
    let output: String
    let clock: LocalClock?

    /// What to do about what is in it.
    var hint: String {
        "the archive is whole, and what is in it is no film of a camera: look at it with watchboxctl archive open"
            + source.detour(clock)
    }

    /// Bytes that the frames of an archive can have together: where start codes become lengths they grow, by a byte for each unit of four or more.
    var limit: Int64 { bytes.wholeSize + bytes.wholeSize / 4 + (64 << 10) }

    func reader() throws(CommandFailure) -> MovieReader {
        try reading { () throws(MediaSourceError) in
            try MovieReader(bytes, named: "the film", damagedHint: hint)
        }
    }

    /// What comes next of it; nil: that was all.
    func next(_ reader: MovieReader) throws(CommandFailure) -> [MediaEvent]? {
        let events = try reading { () throws(MediaSourceError) in
            try bytes.ask()
            return try reader.next()
        }
        for case .accessUnit(let unit) in events ?? [] where !FilmTimeline.isTime(unit) {
            throw CommandFailure(
                what: FilmExport.what(output, source), why: "it says impossible times of its frames", hint: hint)
        }
        return events
    }

    private func reading<R>(_ body: () throws(MediaSourceError) -> R) throws(CommandFailure) -> R {
        do throws(MediaSourceError) { return try body() } catch {
            guard let failure = bytes.failure else {
                throw CommandFailure(
                    what: FilmExport.what(output, source), why: "\(error.what): \(error.why)", hint: error.hint)
            }
            throw source.failure(failure, output, clock)
        }
    }

    // MARK: - Where to begin

    /// Where in a source a film begins: a unit of one of its tracks, and its time.
    struct Start {
        var isVideo: Bool
        /// Among the units of that track that the demuxer gives.
        var index: Int
        var time: MediaTime
    }

    enum Place {
        /// The last key frame at or before the time.
        case at(Start)
        /// There is no key frame before it.
        case none
        /// The film ends well before it.
        case behind
    }

    /// Of a time on the clock, never longer than a film is; what is later is behind all of it.
    func time(_ milliseconds: Int64) -> MediaTime {
        MediaTime(milliseconds: min(milliseconds - source.begin, FilmTimeline.latest / 1_000_000))
    }

    /// Names have milliseconds: by how much a frame's time may be beside what they say.
    static let rounding = MediaTime(nanoseconds: 500_000)

    /// The time at which the first frame in a source is shown, which is when the recording began by its name: a little of the audio may be
    /// before it. MPEG-TS may begin at any time.
    func lead() throws(CommandFailure) -> MediaTime {
        defer { bytes.showAll() }
        if try reading({ () throws(MediaSourceError) in try bytes.showBeginning() }) {
            do throws(CommandFailure) {
                if let time = try firstTime(isWhole: false) { return time }
            } catch {
                // Where fragments and segments have nothing to do with each other, the beginning of a film is none.
                if bytes.failure != nil { throw error }
            }
            bytes.showAll()
        }
        return try firstTime(isWhole: true) ?? .zero
    }

    /// Of the first frame, or of the first sound where there is no frame, or one that comes so late that the recording did not begin with it.
    ///
    /// - Parameter isWhole: all of it is shown; otherwise nil: what is shown does not tell.
    private func firstTime(isWhole: Bool) throws(CommandFailure) -> MediaTime? {
        let reader = try reader()
        var first: MediaTime?
        while let events = try next(reader) {
            for case .accessUnit(let unit) in events {
                let begin = first ?? unit.presentationTime
                first = begin
                if unit.presentationTime > begin + Self.longestRun { return begin }
                if unit.track.isVideo { return unit.presentationTime }
                if !reader.hasVideo { return begin }
            }
        }
        return isWhole ? first : nil
    }

    /// Where a film begins that is to begin at `from`, found without keeping what lies between.
    func start(at from: MediaTime) throws(CommandFailure) -> Place {
        try reading { () throws(MediaSourceError) in try bytes.skip(to: from) }
        let place = try scan(to: from)
        guard case .none = place, !bytes.skipped.isEmpty else { return place }
        bytes.showAll()
        return try scan(to: from)
    }

    private func scan(to from: MediaTime) throws(CommandFailure) -> Place {
        let reader = try reader()
        var keyFrame: Start?
        var sound: Start?
        var videoCount = 0
        var audioCount = 0
        /// Of the last unit, and of the end of what is shown last.
        var last: MediaTime?
        var lastFrame: MediaTime?
        var end = MediaTime.zero
        scanning: while let events = try next(reader) {
            for case .accessUnit(let unit) in events {
                last = max(last ?? unit.decodeTime, unit.decodeTime)
                if unit.track.isVideo {
                    // A frame is shown until the next one, and the last one as long as the one before it.
                    if let lastFrame { end = unit.decodeTime + min(unit.decodeTime - lastFrame, Self.longestRun) }
                    lastFrame = unit.decodeTime
                    if unit.decodeTime > from { break scanning }
                    if unit.isKeyFrame, unit.presentationTime <= from {
                        keyFrame = Start(isVideo: true, index: videoCount, time: unit.presentationTime)
                    }
                    videoCount += 1
                } else {
                    // Files hold the tracks in runs: the frames of that time may be behind the audio.
                    if unit.decodeTime > from + Self.longestRun { break scanning }
                    if unit.decodeTime <= from {
                        sound = Start(isVideo: false, index: audioCount, time: unit.decodeTime)
                    }
                    audioCount += 1
                }
            }
        }
        let tolerance = source.duration == nil ? Self.unnamedEnd : Self.roundedEnd
        if max((last ?? .zero) + tolerance, end) < from { return .behind }
        return (keyFrame ?? (reader.hasVideo ? nil : sound)).map { .at($0) } ?? .none
    }

    /// By how much the last frame may be before the end that a name says: the next recording goes on there, and nothing is missing.
    private static let roundedEnd = MediaTime(milliseconds: RecordingSpans.tolerance)

    /// The same where no name says an end: a frame or two.
    private static let unnamedEnd = MediaTime(milliseconds: 100)

    /// More than one track runs ahead of the other in any film that a camera records.
    static let longestRun = MediaTime(milliseconds: 10_000)
}
