import Archive
import BoxView
import Console
import KeyAccess
import Media
import MediaFile
import Platform
import Wire

/// Joins parts of archives into one film: its access units are those that the archives have, byte for byte. The file has its name when it is
/// whole; letting go before leaves nothing behind.
final class FilmExport {
    /// An archive that something is taken from.
    struct Source {
        var path: String
        /// When the film in it begins, in milliseconds since 1970; of one that nobody knows it of, 0.
        var begin: Int64
        /// Milliseconds that its name promises; nil: it says nothing.
        var duration: Int64?
        /// A recording in the binder at `path`.
        var bound: BinderReader.Recording?

        /// As its name says; nil: it says nothing.
        var end: Int64? { duration.map { begin + $0 } }

        var name: String { bound?.name.fileName ?? path.split(separator: "/").last.map(String.init) ?? path }

        func reader() throws(ArchiveError) -> ArchiveReader {
            if let bound { return try ArchiveReader(bound.file) }
            return try ArchiveReader(path)
        }

        /// The same recording when it was pinned meanwhile, or no more.
        var pinnedOrNot: Self {
            guard var name = RecordingName(name) else { return self }
            var other = self
            other.path.removeLast(name.fileName.count)
            name.isPinned.toggle()
            other.path += name.fileName
            return other
        }
    }

    private let output: String
    /// Of errors: what people call a time in a source.
    private let clock: LocalClock?
    private let target: any FilmTarget
    /// What people make of recordings here, in hints.
    private let things: String
    private var writer: MediaWriter?
    private(set) var timeline = FilmTimeline()
    private var video: VideoFormat?
    private var audio: AudioFormat?
    private var hasKeyFrame = false
    private var archives = 0
    /// Bytes of frames since a fragment began, of a film that has them.
    private var fragmentSize = 0
    /// Bytes that the muxer puts in front of each key frame, at most: none while the parameter sets are those that the film began with.
    private var parameterSets = 0
    /// By its name; nil: there is none before, or it does not say.
    private var endOfPrevious: Int64?
    /// The first archive's, which all of them have to be of.
    private var streams = StreamAgreement()
    /// Of the source that is copied; nil: the target has accepted that.
    private var unaccepted: (source: Source, policy: AccessPolicy?)?

    /// - Parameters:
    ///   - output: the file.
    ///   - clock: for times in errors; nil: nobody knows when the film was recorded.
    ///   - target: what the film goes into; nil: an MP4 file.
    init(to output: String, clock: LocalClock?, into target: (any FilmTarget)? = nil) throws(CommandFailure) {
        self.output = output
        self.clock = clock
        things = target == nil ? "exports" : "archives"
        if let target { self.target = target } else { self.target = try FilmFile(output) }
    }

    static func what(_ output: String) -> String { "\(output) was not written" }

    /// What does not happen because of one archive.
    static func what(_ output: String, _ source: Source) -> String {
        "\(what(output)), because of \(source.name)"
    }

    /// Reads what an archive says of itself. One that was listed before may have been pinned meanwhile, which changes its name, or deleted.
    static func open(
        _ source: Source, isListed: Bool, _ output: String, _ clock: LocalClock?
    ) throws(CommandFailure) -> (source: Source, archive: ArchiveReader) {
        for source in isListed ? [source, source.pinnedOrNot, source] : [source] {
            do throws(ArchiveError) { return (source, try source.reader()) } catch {
                guard isListed, case .input(.system(let failure)) = error, failure.isMissing else {
                    throw Self.failure(error, output, source, clock)
                }
            }
        }
        throw CommandFailure(
            what: what(output, source), why: "that was deleted meanwhile",
            hint: "run it again: what is left is taken")
    }

    /// Refuses an archive of another stream than those before it: whoever can write to the directory can put any there.
    ///
    /// - Parameter stream: as its verified policy says; nil: it names none.
    func check(_ source: Source, isOf stream: String?) throws(CommandFailure) {
        guard let why = streams.disagreement(stream) else { return }
        throw CommandFailure(
            what: Self.what(output, source), why: why,
            hint:
                "take the times before it and after it, or move it away: it is not of this camera, or its stream was renamed"
        )
    }

    /// Takes what lies within a time, from the last key frame at or before its beginning on.
    ///
    /// - Parameters:
    ///   - range: milliseconds since 1970, as the source counts.
    ///   - policy: as it was verified; nil: it is in no form that is known here.
    func add(
        _ source: Source, _ bytes: ArchiveBytes, _ range: RecordingRange, policy: AccessPolicy?
    ) throws(CommandFailure) {
        let lead = try lead(of: source, bytes)
        let to = range.to < .max ? Self.time(range.to, in: source) + lead - Self.rounding : nil
        var start: Start?
        if range.from > source.begin {
            switch try self.start(at: Self.time(range.from, in: source) + lead + Self.rounding, bytes, source) {
            case .at(let found): start = found
            // The film is in the middle of something: all that there is of it is wanted.
            case .none: break
            case .behind: return
            }
        }
        guard timeline.beginRecording(source.begin, lead: lead) else {
            throw CommandFailure(
                what: Self.what(output, source), why: "the film is longer than 100 days", hint: partsHint)
        }
        unaccepted = (source, policy)
        try copy(source, bytes, from: start, to: to)
        archives += 1
        endOfPrevious = source.end
    }

    /// - Parameters:
    ///   - replaces: a file of that name.
    ///   - progress: of what may take long at the end.
    /// - Returns: what was written; nil: nothing was there, and no file is.
    func finish(
        replaces: Bool, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(CommandFailure) -> MediaWriter.Summary? {
        guard let writer else { return nil }
        let summary: MediaWriter.Summary
        do throws(MediaWriterError) { summary = try writer.finish() } catch { throw writerFailure(error) }
        guard summary.videoUnits + summary.audioUnits > 0 else { return nil }
        try keeping { () throws(ArchiveError) in
            try target.take(from: writer)
            try target.finish(replaces: replaces, progress: progress)
        }
        return summary
    }

    // MARK: - Where to begin

    /// Where in a source a film begins: a unit of one of its tracks, and its time.
    private struct Start {
        var isVideo: Bool
        /// Among the units of that track that the demuxer gives.
        var index: Int
        var time: MediaTime
    }

    private enum Place {
        /// The last key frame at or before the time.
        case at(Start)
        /// There is no key frame before it.
        case none
        /// The film ends well before it.
        case behind
    }

    /// Of a time on the clock, never longer than a film is; what is later is behind all of it.
    private static func time(_ milliseconds: Int64, in source: Source) -> MediaTime {
        MediaTime(milliseconds: min(milliseconds - source.begin, FilmTimeline.latest / 1_000_000))
    }

    /// Names have milliseconds: by how much a frame's time may be beside what they say.
    private static let rounding = MediaTime(nanoseconds: 500_000)

    /// The time at which the first frame in a source is shown, which is when the recording began by its name: a little of the audio may be
    /// before it. MPEG-TS may begin at any time.
    private func lead(of source: Source, _ bytes: ArchiveBytes) throws(CommandFailure) -> MediaTime {
        defer { bytes.showAll() }
        if try reading(source, bytes, { () throws(MediaSourceError) in try bytes.showBeginning() }) {
            do throws(CommandFailure) {
                if let time = try firstTime(source, bytes, isWhole: false) { return time }
            } catch {
                // Where fragments and segments have nothing to do with each other, the beginning of a film is none.
                if bytes.failure != nil { throw error }
            }
            bytes.showAll()
        }
        return try firstTime(source, bytes, isWhole: true) ?? .zero
    }

    /// Of the first frame, or of the first sound where there is no frame, or one that comes so late that the recording did not begin with it.
    ///
    /// - Parameter isWhole: all of it is shown; otherwise nil: what is shown does not tell.
    private func firstTime(
        _ source: Source, _ bytes: ArchiveBytes, isWhole: Bool
    ) throws(CommandFailure) -> MediaTime? {
        let reader = try reader(source, bytes)
        var first: MediaTime?
        while let events = try next(reader, source, bytes) {
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
    private func start(at from: MediaTime, _ bytes: ArchiveBytes, _ source: Source) throws(CommandFailure) -> Place {
        try reading(source, bytes) { () throws(MediaSourceError) in try bytes.skip(to: from) }
        let place = try scan(to: from, bytes, source)
        guard case .none = place, !bytes.skipped.isEmpty else { return place }
        bytes.showAll()
        return try scan(to: from, bytes, source)
    }

    private func scan(to from: MediaTime, _ bytes: ArchiveBytes, _ source: Source) throws(CommandFailure) -> Place {
        let reader = try reader(source, bytes)
        var keyFrame: Start?
        var sound: Start?
        var videoCount = 0
        var audioCount = 0
        /// Of the last unit, and of the end of what is shown last.
        var last: MediaTime?
        var lastFrame: MediaTime?
        var end = MediaTime.zero
        scanning: while let events = try next(reader, source, bytes) {
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
    private static let longestRun = MediaTime(milliseconds: 10_000)

    // MARK: - Copying

    private func copy(
        _ source: Source, _ bytes: ArchiveBytes, from start: Start?, to end: MediaTime?
    ) throws(CommandFailure) {
        let reader = try reader(source, bytes)
        var videoCount = 0
        var audioCount = 0
        var hasBegun = start == nil
        var size: Int64 = 0
        /// Tracks that are past the end, and how far the film was read.
        var isVideoOver = false
        var isAudioOver = false
        while let events = try next(reader, source, bytes) {
            for event in events {
                guard case .accessUnit(let unit) = event else {
                    try change(to: event, at: source, reader)
                    continue
                }
                let index = unit.track.isVideo ? videoCount : audioCount
                if unit.track.isVideo { videoCount += 1 } else { audioCount += 1 }
                if let end, unit.decodeTime >= end {
                    if unit.track.isVideo { isVideoOver = true } else { isAudioOver = true }
                    if unit.decodeTime > end + Self.longestRun { return }
                    continue
                }
                if let start, !hasBegun || unit.decodeTime < start.time {
                    hasBegun = hasBegun || unit.track.isVideo == start.isVideo && index == start.index
                    // The other track comes along from that time on, wherever in the file it is.
                    let comesAlong = unit.track.isVideo != start.isVideo && unit.decodeTime >= start.time
                    guard hasBegun && unit.track.isVideo == start.isVideo || comesAlong else { continue }
                }
                size += Int64(max(1, unit.data.count))
                if unit.track.isVideo, unit.isKeyFrame { size += Int64(parameterSets) }
                guard size <= Self.limit(of: bytes) else {
                    throw CommandFailure(
                        what: Self.what(output, source), why: "its frames are larger together than it is itself",
                        hint: filmHint(source))
                }
                try write(unit, of: source)
            }
            // Of a film whose tracks are not all known yet, such as MPEG-TS, more is read than is needed.
            let isOver = reader.trackCount == 2 ? isVideoOver && isAudioOver : isVideoOver || isAudioOver
            if isOver { return }
        }
    }

    /// Bytes that the frames of an archive can have together: where start codes become lengths they grow, by a byte for each unit of four or more.
    private static func limit(of bytes: ArchiveBytes) -> Int64 { bytes.wholeSize + bytes.wholeSize / 4 + (64 << 10) }

    private func write(_ unit: AccessUnit, of source: Source) throws(CommandFailure) {
        if unit.track.isVideo, !hasKeyFrame {
            // What comes before the first key frame nobody can decode.
            guard unit.isKeyFrame else { return }
            hasKeyFrame = true
        }
        guard let writer else { return }
        // One that gives no frame has no say.
        if let (source, policy) = unaccepted {
            try target.accept(policy, of: source, after: endOfPrevious)
            unaccepted = nil
        }
        do throws(MediaWriterError) {
            // Before the frame that it would be too large with; one that ends anyway before a key frame costs nothing.
            fragmentSize += unit.data.count
            if fragmentSize > Self.longestFragment {
                try writer.endFragment()
                fragmentSize = unit.data.count
            } else if unit.track.isVideo, unit.isKeyFrame {
                fragmentSize = unit.data.count
            }
            try writer.write(.accessUnit(timeline.placed(unit)))
        } catch {
            throw writerFailure(error)
        }
        try keeping { () throws(ArchiveError) in try target.take(from: writer) }
    }

    private func keeping(_ body: () throws(ArchiveError) -> Void) throws(CommandFailure) {
        do throws(ArchiveError) { try body() } catch { throw CommandFailure(error, what: Self.what(output)) }
    }

    /// Bytes: of a film in fragments memory holds one, and a camera may send a key frame once an hour.
    private static let longestFragment = 8 << 20

    /// A format, which the film has to be able to go on with: parameter sets may change, and nothing else.
    private func change(to event: MediaEvent, at source: Source, _ reader: MovieReader) throws(CommandFailure) {
        var change: String?
        switch event {
        case .videoFormat(let format):
            if let video, video.codec != format.codec { change = "the video goes on as \(Self.name(format.codec))" }
            if video == nil, archives > 0 { change = "video begins" }
            if let video, video.configurationRecord != format.configurationRecord {
                parameterSets = Self.parameterSets(format)
            }
            video = format
        case .audioFormat(let format):
            if let audio, audio.audioSpecificConfig != format.audioSpecificConfig { change = "the audio changes" }
            if audio == nil, archives > 0 { change = "audio begins" }
            audio = format
        case .accessUnit: return
        }
        if let change {
            let place = clock.map { $0.text(source.begin) } ?? source.name
            throw CommandFailure(
                what: Self.what(output), why: "\(change) at \(place) (\(source.name)), which one film cannot hold",
                hint: clock == nil
                    ? partsHint
                    : "make two \(things): --to \(Self.option(source.begin)), and --from \(Self.option(max(source.begin, endOfPrevious ?? .min)))"
            )
        }
        if writer == nil {
            writer = target.makeWriter(reader.trackCount == 2 ? [.video, .audio] : [])
        }
        do throws(MediaWriterError) { try writer?.write(event) } catch { throw writerFailure(error) }
    }

    /// Bytes of them in front of a key frame: a length there is of four bytes, and in the record of two.
    private static func parameterSets(_ format: VideoFormat) -> Int { 2 * format.configurationRecord.count }

    private static func name(_ codec: VideoCodec) -> String { codec == .h264 ? "H.264" : "H.265" }

    /// As `--from` and `--to` take it.
    private static func option(_ milliseconds: Int64) -> String { CalendarTime.iso8601(milliseconds) }

    // MARK: - Errors

    private static let filmHint =
        "the archive is whole, and what is in it is no film of a camera: look at it with watchboxctl archive open"

    private var partsHint: String { "make several \(things) of it, each of a part" }

    /// What to do about what is in an archive.
    private func filmHint(_ source: Source) -> String { Self.filmHint + Self.detour(source, clock) }

    /// How to export what is before an archive and behind it; empty: it says no times.
    private static func detour(_ source: Source, _ clock: LocalClock?) -> String {
        guard clock != nil, let end = source.end else { return "" }
        return "; or go round it: --to \(option(source.begin)), and --from \(option(end))"
    }

    private func reader(_ source: Source, _ bytes: ArchiveBytes) throws(CommandFailure) -> MovieReader {
        try reading(source, bytes) { () throws(MediaSourceError) in
            try MovieReader(bytes, named: "the film", damagedHint: filmHint(source))
        }
    }

    private func next(
        _ reader: MovieReader, _ source: Source, _ bytes: ArchiveBytes
    ) throws(CommandFailure) -> [MediaEvent]? {
        let events = try reading(source, bytes) { () throws(MediaSourceError) in
            try bytes.ask()
            return try reader.next()
        }
        for case .accessUnit(let unit) in events ?? [] where !FilmTimeline.isTime(unit) {
            throw CommandFailure(
                what: Self.what(output, source), why: "it says impossible times of its frames", hint: filmHint(source))
        }
        return events
    }

    private func reading<R>(
        _ source: Source, _ bytes: ArchiveBytes, _ body: () throws(MediaSourceError) -> R
    ) throws(CommandFailure) -> R {
        do throws(MediaSourceError) { return try body() } catch {
            guard let failure = bytes.failure else {
                throw CommandFailure(
                    what: Self.what(output, source), why: "\(error.what): \(error.why)", hint: error.hint)
            }
            throw Self.failure(failure, output, source, clock)
        }
    }

    /// An archive that cannot be read, and how to go round it.
    static func failure(
        _ error: ArchiveError, _ output: String, _ source: Source, _ clock: LocalClock?
    ) -> CommandFailure {
        var failure = CommandFailure(error, what: what(output, source))
        switch error {
        case .input, .format, .playable: failure.hint += detour(source, clock)
        case .cancelled: failure.what = what(output)
        case .output, .readBack: break
        }
        return failure
    }

    private func writerFailure(_ error: MediaWriterError) -> CommandFailure {
        let hint =
            switch error {
            case .libraryMissing: "install that package, then run it again"
            case .formatChanged, .malformedFormat: partsHint
            case .cannotCreate, .cannotWrite, .failed, .needsSeeking: "name another --output, on a disk with room"
            }
        return CommandFailure(what: Self.what(output), why: "\(error)", hint: hint)
    }
}
