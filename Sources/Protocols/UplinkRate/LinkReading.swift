/// What is known of a connection to a relay at an instant; about ten of them a second.
public struct LinkReading: Equatable, Sendable {
    /// CLOCK_MONOTONIC, nanoseconds.
    public var instant: UInt64
    /// Nanoseconds of video that wait, from the oldest frame to the newest: for how long the link did not take it. Not since their capture,
    /// which may be long ago on a machine that encodes slowly; 0: none waits, or one.
    public var queueDuration: UInt64
    /// Bytes that the peer does not have: those that wait here, in the kernel, and those on their way.
    public var outstanding: UInt64
    /// Bytes that the peer has since the connection began, in whatever order they came: what TCP acknowledged, and what
    /// it acknowledged selectively. Behind a lost packet the former stands still while the link delivers as before.
    public var delivered: UInt64
    /// As TCP smooths it, nanoseconds; 0: not known yet.
    public var roundTrip: UInt64
    /// The shortest of the last minutes, nanoseconds; 0: not known yet.
    public var leastRoundTrip: UInt64
    /// Video frames that were captured, and bytes of audio that were sent: since whenever, and never less.
    public var frames: UInt64
    public var audio: UInt64

    /// A reading of any values is understood: ``UplinkRate`` bounds what it takes of them.
    public init(
        instant: UInt64, queueDuration: UInt64, outstanding: UInt64, delivered: UInt64, roundTrip: UInt64,
        leastRoundTrip: UInt64, frames: UInt64, audio: UInt64
    ) {
        self.instant = instant
        self.queueDuration = queueDuration
        self.outstanding = outstanding
        self.delivered = delivered
        self.roundTrip = roundTrip
        self.leastRoundTrip = leastRoundTrip
        self.frames = frames
        self.audio = audio
    }
}
