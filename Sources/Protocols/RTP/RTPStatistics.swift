/// Counts of one RTP stream; they never go back.
public struct RTPStatistics: Equatable, Sendable {
    /// Packets that were taken.
    public var packets: UInt64 = 0
    /// Packets that never came, or too late.
    public var lost: UInt64 = 0
    /// Packets that came behind a later one and were put back into their place.
    public var reordered: UInt64 = 0
    /// Packets that were not taken: of another stream or session, of another payload type, twice, too late, or not RTP.
    public var discarded: UInt64 = 0
    /// Video and audio frames left out because a part was missing or could not be read.
    public var damaged: UInt64 = 0
    /// Whole frames left out because a decoder could not have shown them: before the first key frame, and between a
    /// loss and the next one.
    public var skipped: UInt64 = 0
    /// Variation of the packets' way through the network (RFC 3550 §6.4.1), nanoseconds.
    public var jitterNanoseconds: UInt64 = 0
    /// When the last packet was taken: CLOCK_MONOTONIC, nanoseconds.
    public var lastPacket: UInt64?

    public init() {}
}

/// What the camera said of its own clock (RFC 3550 §6.4.1). A hint: some cameras never say it, some say it wrongly.
public struct SenderReport: Equatable, Sendable {
    /// Wall time: seconds since 1900 in the upper half, fractions of 2^−32 s in the lower.
    public var ntp: UInt64
    /// The same instant as RTP time.
    public var timestamp: UInt32
    /// When it came: CLOCK_MONOTONIC, nanoseconds.
    public var arrival: UInt64
}
