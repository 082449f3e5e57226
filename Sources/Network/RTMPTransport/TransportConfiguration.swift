/// Times and sizes of a client's connection.
public struct RTMPTransportConfiguration: Equatable, Sendable {
    /// From the name look-up to the established TCP connection.
    public var connectDeadline: Duration = .seconds(5)
    public var tlsDeadline: Duration = .seconds(5)
    /// How often time and TCP progress are reported to the session.
    public var tick: Duration = .milliseconds(250)
    /// How long `stop()` waits for the peer to take our farewell, and how long it takes at most.
    public var drain: Duration = .milliseconds(500)
    public var stopDeadline: Duration = .milliseconds(900)
    /// Bytes that may wait in the connection; more stay with the caller, who can still drop them.
    public var writeHighWater = 32 << 10
    /// Which of the kernel's rules decides how fast TCP sends, by the kernel's name for it ("bbr"); nil, and where the kernel has none of
    /// that name: its default. `RTMPLinkFacts.congestionControl` says which one it is.
    public var congestionControl: String?

    public init() {}
}

/// What a connection has done so far.
public struct RTMPTransportMetrics: Equatable, Sendable, Codable {
    /// Bytes handed to the connection, before TLS.
    public var bytesWritten: UInt64 = 0
    /// Bytes that came, after TLS.
    public var bytesRead: UInt64 = 0
    /// Bytes that the peer's kernel acknowledged, TLS included; as of the last tick.
    public var bytesAcknowledged: UInt64 = 0
    /// Bytes in our kernel that are not on the wire yet; as of the last tick.
    public var bytesNotSent: UInt32 = 0
    /// Bytes that the peer's kernel has, in whatever order they came, TLS included; as of the last look.
    public var bytesDelivered: UInt64 = 0
    /// Bytes that it does not have: in the connection, in our kernel, and on their way; as of the last look.
    public var bytesOutstanding: UInt64 = 0
    /// The shortest of TCP lately, in nanoseconds; 0 before the kernel knows one. As of the last look.
    public var leastRoundTrip: UInt64 = 0
    /// Of TCP, in nanoseconds.
    public var tcpRoundTrip: UInt64 = 0
    /// From our ping to the peer's answer, in nanoseconds; nil before the first answer.
    public var pingRoundTrip: UInt64?

    public init() {}
}
