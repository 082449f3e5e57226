/// What became of the frames and packets of a `VideoEncoder`; counts begin with it and never go back.
public struct EncoderCounters: Equatable, Sendable {
    /// Packets that the encoder flagged or that could not be read, and those after them that were given up until the
    /// next key frame.
    public var errors: UInt64 = 0
    /// Frames that went in and never came out.
    public var drops: UInt64 = 0
    /// Packets of no frame that went in: some drivers begin with one.
    public var unmatched: UInt64 = 0
    /// Frames that were copied because their rows did not lie as the encoder needs them.
    public var realigned: UInt64 = 0
    /// Times when the encoder was opened, the first included.
    public var openings: UInt64 = 0
    /// Key frames that were asked for, by the interval or by `requestKeyFrame`; the first of each opening not counted.
    public var forcedKeyFrames: UInt64 = 0

    public init() {}
}

/// Time inside libavcodec's encoder, CLOCK_MONOTONIC, in nanoseconds: opening and ending not counted.
public struct EncoderTime: Equatable, Sendable {
    public var total: UInt64 = 0
    /// Of the last frame.
    public var last: UInt64 = 0

    public init() {}
}
