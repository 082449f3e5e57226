public import Media
internal import MediaFile

/// MP4 or MPEG-TS.
public final class MovieSink: MediaSink {
    public enum Output: Equatable, Sendable {
        /// `.ts` is MPEG-TS, everything else MP4.
        case file(path: String)
        /// MPEG-TS, for `ffplay -`.
        case standardOutput
    }

    private let writer: MediaWriter

    public init(_ output: Output) {
        switch output {
        case .file(let path):
            writer = MediaWriter(
                path.hasSuffix(".ts") ? .mpegTS : .mp4, to: .file(path: path), tracks: [.video, .audio])
        case .standardOutput:
            writer = MediaWriter(.mpegTS, to: .descriptor(1), tracks: [.video, .audio])
        }
    }

    public var isSatisfied: Bool { writer.isReaderGone }

    public func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) {
        do { try writer.write(event) } catch { throw .output("\(error)") }
    }

    public func finish() throws(ViewerError) {
        do { try writer.finish() } catch { throw .output("\(error)") }
    }
}
