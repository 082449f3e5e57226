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
    private var unaccepted: (source: FilmSource, policy: AccessPolicy?)?

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
    static func what(_ output: String, _ source: FilmSource) -> String {
        "\(what(output)), because of \(source.name)"
    }

    /// Refuses an archive of another stream than those before it: whoever can write to the directory can put any there.
    ///
    /// - Parameter stream: as its verified policy says; nil: it names none.
    func check(_ source: FilmSource, isOf stream: String?) throws(CommandFailure) {
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
        _ source: FilmSource, _ bytes: ArchiveBytes, _ range: RecordingRange, policy: AccessPolicy?
    ) throws(CommandFailure) {
        let film = FilmReading(source: source, bytes: bytes, output: output, clock: clock)
        let lead = try film.lead()
        let to = range.to < .max ? film.time(range.to) + lead - FilmReading.rounding : nil
        var start: FilmReading.Start?
        if range.from > source.begin {
            switch try film.start(at: film.time(range.from) + lead + FilmReading.rounding) {
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
        try copy(film, from: start, to: to)
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

    // MARK: - Copying

    private func copy(
        _ film: FilmReading, from start: FilmReading.Start?, to end: MediaTime?
    ) throws(CommandFailure) {
        let reader = try film.reader()
        var videoCount = 0
        var audioCount = 0
        var hasBegun = start == nil
        var size: Int64 = 0
        /// Tracks that are past the end, and how far the film was read.
        var isVideoOver = false
        var isAudioOver = false
        while let events = try film.next(reader) {
            for event in events {
                guard case .accessUnit(let unit) = event else {
                    try change(to: event, at: film.source, reader)
                    continue
                }
                let index = unit.track.isVideo ? videoCount : audioCount
                if unit.track.isVideo { videoCount += 1 } else { audioCount += 1 }
                if let end, unit.decodeTime >= end {
                    if unit.track.isVideo { isVideoOver = true } else { isAudioOver = true }
                    if unit.decodeTime > end + FilmReading.longestRun { return }
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
                guard size <= film.limit else {
                    throw CommandFailure(
                        what: Self.what(output, film.source), why: "its frames are larger together than it is itself",
                        hint: film.hint)
                }
                try write(unit)
            }
            // Of a film whose tracks are not all known yet, such as MPEG-TS, more is read than is needed.
            let isOver = reader.trackCount == 2 ? isVideoOver && isAudioOver : isVideoOver || isAudioOver
            if isOver { return }
        }
    }

    private func write(_ unit: AccessUnit) throws(CommandFailure) {
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
    private func change(to event: MediaEvent, at source: FilmSource, _ reader: MovieReader) throws(CommandFailure) {
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
                    : "make two \(things): --to \(CalendarTime.iso8601(source.begin)), and --from \(CalendarTime.iso8601(max(source.begin, endOfPrevious ?? .min)))"
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

    // MARK: - Errors

    private var partsHint: String { "make several \(things) of it, each of a part" }

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
