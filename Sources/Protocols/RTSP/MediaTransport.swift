/// How the packets of one medium come, as request and answer of SETUP agreed.
public struct MediaTransport: Equatable, Sendable {
    public enum Delivery: Equatable, Sendable {
        /// In the RTSP connection, on these channels (RFC 2326 §10.12).
        case interleaved(rtp: UInt8, rtcp: UInt8)
        /// To the ports that were bound.
        case udp(UDP)
        case multicast(Multicast)
    }

    public struct UDP: Equatable, Sendable {
        /// Where the camera says that it sends from, when it says so; often a lie behind NAT.
        public var serverAddress: String?
        /// The camera's ports; nil when it did not report them, or nonsense.
        public var serverRTP: UInt16?
        public var serverRTCP: UInt16?
        /// Our own, as they were bound.
        public var clientRTP: UInt16
        public var clientRTCP: UInt16
    }

    public struct Multicast: Equatable, Sendable {
        /// As text; whether it is a multicast address of a family that can be joined is the driver's to see.
        public var group: String
        public var rtp: UInt16
        public var rtcp: UInt16
        public var timeToLive: UInt8?
        /// Who sends, when the camera says so: for a source-specific group.
        public var sourceAddress: String?
    }

    public var delivery: Delivery
    /// The SSRC that the camera announced; a hint, as some announce another one than they use.
    public var source: UInt32?
}

/// Where the first packet of one medium is, as RTP-Info of PLAY's answer says (RFC 2326 §12.33). A hint: some cameras
/// always say 0.
public struct PlayInformation: Equatable, Sendable {
    /// Its place in the session description.
    public var media: Int
    public var sequence: UInt16?
    public var timestamp: UInt32?
}
