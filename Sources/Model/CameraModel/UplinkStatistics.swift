public import UplinkRate

/// What a camera's process can say of the bitrate that follows its link to the relay. All counts begin with the process
/// and never go back.
public struct UplinkStatistics: Codable, Equatable, Sendable {
    /// Of the last change of the bitrate.
    public typealias Reason = UplinkRate.Reason

    /// At the end of a second; bits a second.
    public struct Sample: Codable, Equatable, Sendable {
        public var target: Int
        public var measured: Int

        public init(target: Int, measured: Int) {
            self.target = target
            self.measured = measured
        }
    }

    /// Samples of `history` at most.
    public static let maxHistory = 60

    /// Bits a second of video that the link is thought to bear: from `least` to `most`.
    public var target: Int
    public var least: Int
    /// The camera's own bitrate.
    public var most: Int
    /// Bits a second that the relay's kernel acknowledged lately, audio and all.
    public var measured: Int
    /// For how long a frame that is captured now will wait, beyond the way itself.
    public var delayMilliseconds: Int
    /// Video frames given up because they were too old to be worth sending; they are among
    /// `CameraStatistics.video.dropped`.
    public var drops: UInt64
    /// Of the encoder's bitrate.
    public var changes: UInt64
    public var reason: Reason
    /// CLOCK_MONOTONIC in nanoseconds of the last change of the encoder's bitrate; nil: there was none.
    public var lastChange: UInt64?
    /// What the kernel says of the connection, `bbr` or `cubic` say; nil: not known.
    public var congestionControl: String?
    /// Of the last minute, one a second, oldest first.
    public var history: [Sample]

    public init(
        target: Int = 0, least: Int = 0, most: Int = 0, measured: Int = 0, delayMilliseconds: Int = 0,
        drops: UInt64 = 0, changes: UInt64 = 0, reason: Reason = .start, lastChange: UInt64? = nil,
        congestionControl: String? = nil, history: [Sample] = []
    ) {
        self.target = target
        self.least = least
        self.most = most
        self.measured = measured
        self.delayMilliseconds = delayMilliseconds
        self.drops = drops
        self.changes = changes
        self.reason = reason
        self.lastChange = lastChange
        self.congestionControl = congestionControl
        self.history = history
    }
}
