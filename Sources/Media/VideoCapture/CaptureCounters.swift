/// Since the device was opened; all go up only.
public struct CaptureCounters: Equatable, Sendable {
    /// Frames that the driver delivered, with those below but `lost`.
    public var captured: UInt64 = 0
    /// Given up because a newer one was there as well.
    public var superseded: UInt64 = 0
    /// Missing in the driver's count.
    public var lost: UInt64 = 0
    /// Flagged by the driver, empty, too short, or longer than their buffer.
    public var damaged: UInt64 = 0

    public init() {}
}

/// What a driver said besides frames.
public struct CaptureEvents: OptionSet, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The signal has another size or rate now (V4L2_EVENT_SOURCE_CHANGE).
    public static let sourceChange = CaptureEvents(rawValue: 1)
    /// No more frames will come (V4L2_EVENT_EOS).
    public static let endOfStream = CaptureEvents(rawValue: 2)
    /// A bridge had nothing to report to its sender, and was given what it takes (VIDIOC_S_EDID).
    public static let edidGiven = CaptureEvents(rawValue: 4)
}

/// Finds frames that are missing in a driver's count of them.
struct SequenceCounter {
    /// A larger step is a driver that counts again.
    static let maxGap: UInt32 = 1 << 16

    private var last: UInt32?

    /// - Returns: How many are missing before this one. A wrap at 2^32 is not a gap; neither is a count that begins
    ///   again.
    mutating func missing(before sequence: UInt32) -> UInt64 {
        defer { last = sequence }
        guard let last else { return 0 }
        let step = sequence &- last
        return step > 1 && step <= Self.maxGap ? UInt64(step - 1) : 0
    }
}
