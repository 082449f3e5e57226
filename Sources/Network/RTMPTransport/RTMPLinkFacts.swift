/// What a client's connection is like, as far as the kernel and TLS report.
public struct RTMPLinkFacts: Equatable, Sendable {
    /// Of TCP, smoothed, in nanoseconds; nil before the kernel knows it.
    public var roundTrip: UInt64?
    /// Bytes of the largest packet that the way takes, as far as the kernel knows.
    public var pathMTU: Int?
    /// Which of the kernel's rules decides how fast TCP sends, by the kernel's name for it: "cubic", "bbr"; nil before it is known.
    public var congestionControl: String?
    /// "TLS 1.3"; nil without TLS, and before its handshake is over.
    public var tlsVersion: String?
    /// End of the server's certificate, seconds since 1970.
    public var certificateEnd: Int64?

    public init() {}
}
