import Archive
import Console
import KeyAccess
import Media
import MediaFile
import Platform
import TDF
import VideoCodec

/// Makes small pictures of where recordings begin. Only their first segments are opened, and what is decoded was verified: an archive's policy, its
/// list of segments, and the segment's hash and tag. Decoded it is in a process that can do nothing else.
struct ThumbnailMaker {
    /// Why there is no picture of a recording.
    enum Fault: Error {
        /// It is damaged, or of another camera.
        case skipped(reason: String)
        /// Its key is not for whoever asks.
        case refused(CommandFailure)
        /// No other recording would have a picture either.
        case ended(CommandFailure)
    }

    let keys: ArchiveKeySource
    let decoder: FrameDecoderChild
    /// Of errors: the file that the picture goes into.
    let output: String
    let clock: LocalClock?
    private var streams = StreamAgreement()

    /// Pixels.
    static let width = 320
    /// Bytes of a picture: one of this width has some 20 000, and a page all of them.
    static let maxBytes = 256 << 10
    /// Frames that are looked at before the first key frame, with those of audio.
    private static let maxFrames = 10_000

    init(_ keys: ArchiveKeySource, _ decoder: FrameDecoderChild, output: String, clock: LocalClock?) {
        self.keys = keys
        self.decoder = decoder
        self.output = output
        self.clock = clock
    }

    /// A JPEG.
    ///
    /// - Parameter ask: throws when nobody wants it any more.
    mutating func picture(
        of listed: FilmSource, ask: @escaping () throws(ArchiveError) -> Void
    ) async throws(Fault) -> [UInt8] {
        try still(listed, ask)
        let (source, archive) = try Self.skipping { () throws(CommandFailure) in
            try listed.opened(isListed: true, output, clock)
        }
        let opened = try await opened(archive, FilmExport.what(output, source))
        if let why = streams.disagreement(archive.policy?.stream) { throw .skipped(reason: why) }
        let bytes = ArchiveBytes(opened, map: archive.map) { (_) throws(ArchiveError) in try ask() }
        let found: (unit: AccessUnit, format: VideoFormat)
        do throws(CommandFailure) {
            found = try firstKeyFrame(FilmReading(source: source, bytes: bytes, output: output, clock: clock))
        } catch {
            try still(listed, ask)
            throw .skipped(reason: error.why)
        }
        let made = await OwnThread.result { [decoder] () throws(VideoCodecError) in
            try decoder.jpeg(of: found.unit, format: found.format, maxWidth: Self.width)
        }
        // Ctrl-C may have reached the decoder as well.
        try still(listed, ask)
        switch made {
        case .success(let jpeg) where jpeg.count <= Self.maxBytes: return jpeg
        case .success(let jpeg):
            throw .skipped(reason: "its picture has \(jpeg.count) bytes, and one has \(Self.maxBytes) at most")
        case .failure(let error): throw .skipped(reason: "its first key frame gives no picture: \(error)")
        case nil:
            throw .ended(
                CommandFailure(
                    what: FilmExport.what(output), why: "no thread can be made",
                    hint: "run it again when there is memory"))
        }
    }

    private func opened(_ archive: ArchiveReader, _ what: String) async throws(Fault) -> OpenedArchive {
        do throws(CommandFailure) { return try await keys.open(archive, what: what) } catch {
            switch error.status {
            case .notPermitted: throw .refused(error)
            // The KAS is away, or the token cannot be read.
            case .remoteUnreachable, .usage: throw .ended(error)
            default: throw .skipped(reason: error.why)
            }
        }
    }

    private func firstKeyFrame(_ film: FilmReading) throws(CommandFailure) -> (unit: AccessUnit, format: VideoFormat) {
        func none(_ why: String) -> CommandFailure {
            CommandFailure(what: FilmExport.what(output, film.source), why: why, hint: film.hint)
        }
        let isAlone: Bool
        do throws(MediaSourceError) { isAlone = try film.bytes.showBeginning() } catch {
            throw film.bytes.failure.map { film.source.failure($0, output, clock) }
                ?? none("\(error.what): \(error.why)")
        }
        // All of a recording is not read for one picture.
        guard isAlone || film.bytes.segmentCount <= 1 else {
            throw none("its first segment is no film of its own, as of recordings it is")
        }
        let reader = try film.reader()
        var format: VideoFormat?
        var frames = 0
        var size: Int64 = 0
        while let events = try film.next(reader) {
            for event in events {
                if case .videoFormat(let found) = event { format = found }
                guard case .accessUnit(let unit) = event else { continue }
                if unit.track.isVideo, unit.isKeyFrame, let format { return (unit, format) }
                frames += 1
                size += Int64(unit.data.count)
                guard frames <= Self.maxFrames, size <= film.limit else {
                    throw none("there is no key frame at its beginning")
                }
            }
        }
        throw none("there is no key frame in its first segment")
    }

    private func still(_ source: FilmSource, _ ask: () throws(ArchiveError) -> Void) throws(Fault) {
        do throws(ArchiveError) { try ask() } catch { throw .ended(source.failure(error, output, clock)) }
    }

    private static func skipping<R>(_ body: () throws(CommandFailure) -> R) throws(Fault) -> R {
        do throws(CommandFailure) { return try body() } catch { throw .skipped(reason: error.why) }
    }
}
