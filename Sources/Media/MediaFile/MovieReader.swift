internal import CAVCodec
public import Media
internal import VideoCodec

/// The formats and access units of a film, in the order of its container and with the times that the container says: for whoever takes parts
/// out of films. H.264, H.265 and AAC, out of MP4 or MPEG-TS. Its calls block. Used by one thread at a time.
///
/// Anybody may have made the film: a few thousand bytes can claim millions of frames. So libav gets a limited amount of memory at once while it
/// reads, which holds for the whole process meanwhile.
public final class MovieReader {
    private let input: ContainerInput

    private static let limits = ContainerInput.Limits(
        // MP4 in all its kinds, and MPEG-TS: who makes a film also chooses by its first bytes which of libavformat's readers it is for.
        formats: "mov,mp4,m4a,3gp,3g2,mj2,mpegts", decoders: "h264,hevc,aac",
        // A telephone's films have some of other kinds. The index of each may be as large as what libav gets at once.
        tracks: 10)

    /// Bytes, of which an index takes 24 for each frame: 16 hours of audio.
    private static let memoryAtOnce = 64 << 20

    /// - Parameters:
    ///   - name: what messages call it.
    ///   - damagedHint: what is to be done when it is no film, or a damaged one.
    public init(_ bytes: any ByteSource, named name: String, damagedHint: String) throws(MediaSourceError) {
        // Where it is missing, the reader says so itself.
        let isLoaded = (try? Libav.load(WB_LIBRARY_AVFORMAT)) != nil
        input = try Self.withLittleMemory(isLoaded) { () throws(MediaSourceError) in
            try ContainerInput(
                bytes, named: name, limits: Self.limits, transcoding: nil, damagedHint: damagedHint,
                clock: SourceClock())
        }
    }

    /// Tracks of video and audio that it has, one of each at most.
    public var trackCount: Int { input.trackCount ?? 0 }

    /// Whether one of them is of video.
    public var hasVideo: Bool { input.hasVideo }

    /// The next events; empty when what was read holds none; nil at the end.
    public func next() throws(MediaSourceError) -> [MediaEvent]? {
        try Self.withLittleMemory(true) { () throws(MediaSourceError) in try input.next() }
    }

    /// Writers need more: the index of a long film is one piece.
    private static func withLittleMemory<R>(
        _ isLoaded: Bool, _ body: () throws(MediaSourceError) -> R
    ) throws(MediaSourceError) -> R {
        guard isLoaded else { return try body() }
        wb_av_max_alloc(memoryAtOnce)
        defer { wb_av_max_alloc(Int(CInt.max)) }
        return try body()
    }
}
