import Archive
import BoxView
import Console
import KeyAccess
import Media
import MediaFile
import Platform
import TDF
import Wire

/// Joins parts of archives into one film: its access units are those that the archives have, byte for byte. The file has its name when it is
/// whole; letting go before leaves nothing behind but what the target keeps for another export.
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
    /// How long the film was when it was committed; nil: it was not.
    private(set) var committed: MediaTime?
    /// No source was added that a later export does not find as it is, such as one that grows.
    private var isCommittable = true
    /// What failed has nothing to do with the archives: a key that was not given, a disk without room.
    private(set) var isPassing = false
    /// It was that the film could not be written.
    private var isOutput = false
    /// Of the source that is copied; nil: the target has accepted that.
    private var unaccepted: (source: FilmSource, policy: AccessPolicy?)?

    /// Into an MP4 file, of which nothing stays when it does not become whole.
    ///
    /// - Parameters:
    ///   - output: the file.
    ///   - clock: for times in errors; nil: nobody knows when the film was recorded.
    convenience init(to output: String, clock: LocalClock?) throws(CommandFailure) {
        self.init(to: output, clock: clock, into: try FilmFile(output))
    }

    /// - Parameter target: what the film goes into.
    init(to output: String, clock: LocalClock?, into target: any FilmTarget) {
        self.output = output
        self.clock = clock
        self.target = target
        things = target is FilmFile ? "exports" : "archives"
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
            case .behind:
                try begin(source, stream: policy?.stream, lead: nil)
                try commit()
                return
            }
        }
        try begin(source, stream: policy?.stream, lead: lead)
        unaccepted = (source, policy)
        try copy(film, from: start, to: to)
        archives += 1
        endOfPrevious = source.end
        try commit()
    }

    /// - Parameter lead: of its first frame; nil: it gives nothing.
    private func begin(_ source: FilmSource, stream: String?, lead: MediaTime?) throws(CommandFailure) {
        if let identity = source.seen ?? source.look() {
            target.note(.source(FilmRecord.Source(identity: identity, stream: stream, lead: lead)))
        } else {
            isCommittable = false
        }
        try place(source, lead)
    }

    private func place(_ source: FilmSource, _ lead: MediaTime?) throws(CommandFailure) {
        guard let lead else { return }
        guard timeline.beginRecording(source.begin, lead: lead) else {
            throw CommandFailure(
                what: Self.what(output, source), why: "the film is longer than 100 days", hint: partsHint)
        }
    }

    /// What was added so far stays when the export ends before its time.
    private func commit() throws(CommandFailure) {
        // Also when nothing is committed: what is written does not depend on that.
        guard let place = try settle(), isCommittable else { return }
        try keeping { () throws(ArchiveError) in
            if try target.commit(place) { committed = timeline.duration }
        }
    }

    /// - Returns: where the media are; nil: the first of them wait for a format, and are there with the next source.
    private func settle() throws(CommandFailure) -> Range<Int64>? {
        guard let writer else { return 0..<0 }
        do throws(MediaWriterError) {
            return try writer.settle().map { Int64(writer.headerSize)..<Int64($0) }
        } catch { throw writerFailure(error) }
    }

    // MARK: - After an interruption

    /// Takes what an interrupted export committed, without its frames: they are there.
    ///
    /// - Parameter sources: of the block.
    /// - Throws: when they do not give what is there.
    func replay(_ block: FilmJournal.Block, of sources: [FilmSource]) throws(CommandFailure) {
        var sources = sources[...]
        let isFirst = writer == nil
        var current: FilmSource?
        func endSource() {
            guard let current else { return }
            archives += 1
            endOfPrevious = current.end
        }
        for record in block.records {
            switch record {
            case .source(let said):
                guard let source = sources.popFirst() else { throw unusable }
                try check(source, isOf: said.stream)
                endSource()
                current = said.lead == nil ? nil : source
                try place(source, said.lead)
            case .video(let format, let isOfTwo):
                guard let current else { throw unusable }
                try change(to: .videoFormat(format), at: current, isOfTwo: isOfTwo)
            case .audio(let format, let isOfTwo):
                guard let current else { throw unusable }
                try change(to: .audioFormat(format), at: current, isOfTwo: isOfTwo)
            case .unit(let unit):
                try write(
                    AccessUnit(
                        track: unit.track, isKeyFrame: unit.isKeyFrame, presentationTime: unit.presentationTime,
                        decodeTime: unit.decodeTime, data: [UInt8](repeating: 0, count: unit.size)))
            }
        }
        endSource()
        // Nothing of it may lie where nobody looked at it.
        guard let place = try settle(), place.upperBound == block.media.upperBound,
            !isFirst || block.media.lowerBound == place.lowerBound
        else { throw unusable }
        committed = timeline.duration
    }

    private var unusable: CommandFailure {
        CommandFailure(
            what: Self.what(output), why: "what is there of it is not what its journal says", hint: "delete it")
    }

    /// From here on the film is written.
    func endReplay() { writer?.isRepeating = false }

    /// What fails now may be well another time.
    func mayPass() { isPassing = true }

    /// What to say of a failure that passes: what was committed waits for the next export then.
    ///
    /// - Parameter options: with which that is of the same time; empty: with those that this one has.
    func interrupted(by failure: CommandFailure, _ options: String) -> CommandFailure {
        // One that cannot be read (2), as without permission to, is not damaged.
        let passes = isPassing || failure.status == .abortedByUser || failure.status == .usage
        guard passes, (committed ?? .zero) > .zero, target.keep() else { return failure }
        var failure = failure
        let again = "run it again"
        let length =
            committed.map { " after the first \(Quantity.time(seconds: Double($0.milliseconds) / 1000))" } ?? ""
        let before =
            isOutput
            ? "make room there, or see what is wrong with the disk; then "
            : failure.hint.hasPrefix("\(again):") || failure.hint == again ? "" : "\(failure.hint); then "
        failure.hint = before + again + (options.isEmpty ? "" : " with \(options)") + ": it goes on\(length)"
        return failure
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
                    try change(to: event, at: film.source, isOfTwo: reader.trackCount == 2)
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
            target.note(.unit(FilmRecord.Unit(unit)))
            try writer.write(.accessUnit(timeline.placed(unit)))
        } catch {
            throw writerFailure(error)
        }
        try keeping { () throws(ArchiveError) in try target.take(from: writer) }
    }

    private func keeping(_ body: () throws(ArchiveError) -> Void) throws(CommandFailure) {
        do throws(ArchiveError) { try body() } catch {
            switch error {
            case .output: (isPassing, isOutput) = (true, true)
            case .format(.crypto(.libraryFailed(_))): isPassing = true
            default: break
            }
            throw CommandFailure(error, what: Self.what(output))
        }
    }

    /// Bytes: of a film in fragments memory holds one, and a camera may send a key frame once an hour.
    private static let longestFragment = 8 << 20

    /// A format, which the film has to be able to go on with: parameter sets may change, and nothing else.
    ///
    /// - Parameter isOfTwo: the source has both tracks.
    private func change(to event: MediaEvent, at source: FilmSource, isOfTwo: Bool) throws(CommandFailure) {
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
            writer = target.makeWriter(isOfTwo ? [.video, .audio] : [])
        }
        switch event {
        case .videoFormat(let format): target.note(.video(format, isOfTwo: isOfTwo))
        case .audioFormat(let format): target.note(.audio(format, isOfTwo: isOfTwo))
        case .accessUnit: break
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
        switch error {
        case .cannotWrite: (isPassing, isOutput) = (true, true)
        case .libraryMissing, .failed: isPassing = true
        case .formatChanged, .malformedFormat, .cannotCreate, .needsSeeking: break
        }
        return CommandFailure(what: Self.what(output), why: "\(error)", hint: hint)
    }
}
