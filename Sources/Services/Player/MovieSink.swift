public import Media
internal import MediaFile

/// MP4 or MPEG-TS.
public final class MovieSink: MediaSink {
    public enum Output: Equatable, Sendable {
        /// `.ts` is MPEG-TS, everything else MP4.
        case file(path: String)
        /// MPEG-TS, for `ffplay -`.
        case standardOutput
        /// MPEG-TS; stays open, and its owner's.
        case descriptor(Int32)
    }

    private let writer: MediaWriter
    /// The audio goes on in another format than it began with, which a film has no place for.
    private var isAudioRefused = false
    private var refusedAudio: UInt64 = 0

    public init(_ output: Output) {
        switch output {
        case .file(let path):
            writer = MediaWriter(
                path.hasSuffix(".ts") ? .mpegTS : .mp4, to: .file(path: path), tracks: [.video, .audio])
        case .standardOutput:
            writer = MediaWriter(.mpegTS, to: .descriptor(1), tracks: [.video, .audio])
        case .descriptor(let descriptor):
            writer = MediaWriter(.mpegTS, to: .descriptor(descriptor), tracks: [.video, .audio])
        }
    }

    public var isSatisfied: Bool { writer.isReaderGone }

    public var ignoredUnits: UInt64 { UInt64(writer.summary.ignoredUnits) + refusedAudio }

    public var abandon: @Sendable () -> Void {
        let abandonment = writer.abandonment
        return { abandonment.request() }
    }

    public func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) {
        if case .accessUnit(let unit) = event, !unit.track.isVideo, isAudioRefused {
            refusedAudio += 1
            return
        }
        do throws(MediaWriterError) {
            try writer.write(event)
            if case .audioFormat = event { isAudioRefused = false }
        } catch {
            // Formats are not authenticated: whoever changes that of the audio must not take the frames as well.
            if case .formatChanged = error, case .audioFormat = event {
                isAudioRefused = true
            } else {
                throw Self.viewerError(error)
            }
        }
    }

    public func finish() throws(ViewerError) {
        do { try writer.finish() } catch { throw Self.viewerError(error) }
    }

    private static func viewerError(_ error: MediaWriterError) -> ViewerError {
        switch error {
        case .formatChanged(let what):
            .formatChanged("\(what) changed within the stream, as it does when a camera is set up again")
        case .malformedFormat: .formatChanged("\(error)")
        case .libraryMissing, .cannotCreate, .cannotWrite, .failed, .needsSeeking: .output("\(error)")
        }
    }
}
