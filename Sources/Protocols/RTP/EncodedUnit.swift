public import Media

/// What one RTP stream carries between two points in time: a video frame, an audio frame, a run of samples.
public struct EncodedUnit: Equatable, Sendable {
    /// RTP time, in the payload format's clock, from a random start. Wraps.
    public var timestamp: UInt32
    /// When its last packet came: CLOCK_MONOTONIC, nanoseconds.
    public var arrival: UInt64
    /// H.264 and H.265: NAL units behind 4-byte lengths, as in `Media.AccessUnit`, without delimiters, parameter sets
    /// and filler. AAC: one raw frame. G.711, G.726, Opus: the bytes. JPEG: a whole file.
    public var data: [UInt8]
    /// A decoder can begin here. True of everything but frames of H.264 and H.265.
    public var isKeyFrame: Bool
    /// A decoder can begin here as far as that goes: the stream has no better place, and its frames become right some
    /// frames later (intra refresh). Then `isKeyFrame` is true as well.
    public var isRecoveryPoint: Bool
    /// H.264 and H.265: the format that begins with this unit. In the first unit, and again when it changes.
    public var format: VideoFormat?
    /// The first unit of another source (SSRC) than before: its timestamps have nothing to do with earlier ones.
    public var beginsSource: Bool

    public init(
        timestamp: UInt32, arrival: UInt64, data: [UInt8], isKeyFrame: Bool, isRecoveryPoint: Bool = false,
        format: VideoFormat? = nil, beginsSource: Bool = false
    ) {
        self.timestamp = timestamp
        self.arrival = arrival
        self.data = data
        self.isKeyFrame = isKeyFrame
        self.isRecoveryPoint = isRecoveryPoint
        self.format = format
        self.beginsSource = beginsSource
    }
}
