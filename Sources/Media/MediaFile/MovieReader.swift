public import Media
internal import VideoCodec

/// The formats and access units of a film, in the order of its container and with the times that the container says: for whoever takes parts
/// out of films. H.264, H.265 and AAC, out of MP4 or MPEG-TS. Its calls block. Used by one thread at a time.
public final class MovieReader {
    private let input: ContainerInput

    /// MP4 in all its kinds, and MPEG-TS: who makes a film also chooses by its first bytes which of libavformat's readers it is for.
    private static let formats = "mov,mp4,m4a,3gp,3g2,mj2,mpegts"

    /// - Parameters:
    ///   - name: what messages call it.
    ///   - damagedHint: what is to be done when it is no film, or a damaged one.
    public init(_ bytes: any ByteSource, named name: String, damagedHint: String) throws(MediaSourceError) {
        input = try ContainerInput(
            bytes, named: name, formats: Self.formats, transcoding: nil, damagedHint: damagedHint, clock: SourceClock())
    }

    /// Tracks of video and audio that it has, one of each at most.
    public var trackCount: Int { input.trackCount ?? 0 }

    /// Whether one of them is of video.
    public var hasVideo: Bool { input.hasVideo }

    /// The next events; empty when what was read holds none; nil at the end.
    public func next() throws(MediaSourceError) -> [MediaEvent]? { try input.next() }
}
