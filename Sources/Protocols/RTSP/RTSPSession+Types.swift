/// The hash functions of Digest (RFC 7616) that a session calls.
public enum DigestAlgorithm: Equatable, Sendable {
    case md5, sha256
}

extension RTSPSession {
    /// How media is to come.
    public enum Transport: Equatable, Sendable {
        /// In the RTSP connection.
        case tcp
        case udp
        case multicast
    }

    public enum Purpose: Equatable, Sendable {
        /// Ends with `.described`, `.ended`; takes none of the camera's streams.
        case describe
        case play
    }

    public struct Configuration: Sendable {
        public var url: RTSPURL
        public var credentials: RTSPCredentials?
        public var userAgent: String
        /// Send Basic although the connection is not encrypted.
        public var allowsBasic: Bool
        public var transport: Transport
        public var purpose: Purpose
        /// The connection is TLS whose certificate was checked or pinned: Basic shows nothing.
        public var isEncrypted: Bool
        /// False on the connection that a redirect led to: one is followed, a second one is refused.
        public var followsRedirect = true
        /// So many logins are shown for one request, where the camera says that no more than the nonce was wrong.
        public var maxLogins = 3
        /// Keep the session alive with OPTIONS even if the camera lists GET_PARAMETER: for one that closed the
        /// connection at it before (`Facts.getParameterRefused`).
        public var keepsAliveWithOptions = false
        /// Nanoseconds for the answer to each request.
        public var requestTimeout: UInt64 = 5_000_000_000
        /// Nanoseconds from `connected` to PLAY's answer.
        public var setUpTimeout: UInt64 = 15_000_000_000
        public var digest: @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]
        /// A fresh random text for Digest's `cnonce`: letters and digits.
        public var makeClientNonce: @Sendable () -> String
        /// Which media to set up, in order, as places in `SessionDescription.media`; nil or none: there is none that is
        /// taken. Back channels are left out whatever it says.
        public var select: @Sendable (SessionDescription) -> [Int]?

        public init(
            url: RTSPURL, credentials: RTSPCredentials?, userAgent: String, allowsBasic: Bool = false,
            transport: Transport = .tcp, purpose: Purpose = .play, isEncrypted: Bool = false,
            digest: @escaping @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8],
            makeClientNonce: @escaping @Sendable () -> String,
            select: @escaping @Sendable (SessionDescription) -> [Int]?
        ) {
            self.url = url
            self.credentials = credentials
            self.userAgent = userAgent
            self.allowsBasic = allowsBasic
            self.transport = transport
            self.purpose = purpose
            self.isEncrypted = isEncrypted
            self.digest = digest
            self.makeClientNonce = makeClientNonce
            self.select = select
        }
    }

    /// `media` and `index` are always places in `SessionDescription.media`.
    public enum Action: Equatable, Sendable {
        case write([UInt8])
        case described(SessionDescription)
        /// UDP: bind an even port and the next one, then call `portsBound`.
        case needsPorts(media: Int)
        /// Packets of this medium may come from now on. A medium that was selected and never gets here was refused by
        /// the camera (`Facts.refusedMedia`).
        case setUp(media: Int, MediaTransport)
        /// PLAY is answered. Holds the media of which RTP-Info says something.
        case playing([PlayInformation])
        /// An interleaved packet: a slice of what `received` was given, or of the pieces that were joined.
        case media(index: Int, isControl: Bool, ArraySlice<UInt8>)
        /// Connect there and begin a new session, with `followsRedirect` false. The session is over.
        case redirected(RTSPURL)
        /// The session is over; a TEARDOWN that may precede this must still be written.
        case failed(RTSPFailure)
        /// The session is over, as asked for; a TEARDOWN that may precede this must still be written.
        case ended
    }

    /// What was learned on the way, for a person and for statistics.
    public struct Facts: Equatable, Sendable {
        /// The camera's Server header.
        public var server: String?
        /// Its Public header, in upper case.
        public var methods: [String] = []
        /// `none`, `Basic`, `Digest MD5` or `Digest SHA-256`: what it accepted.
        public var authentication = "none"
        /// Seconds, as SETUP's answer says; nil when it does not (60 is assumed then).
        public var sessionTimeout: Int?
        /// Bytes skipped because they were neither a message nor a frame.
        public var discardedBytes: UInt64 = 0
        /// Frames on channels that are not of this session: of an old one, most likely.
        public var unknownChannelPackets: UInt64 = 0
        /// Frames of this session's channels before PLAY was answered; they were passed on.
        public var earlyPackets: UInt64 = 0
        /// Answers without CSeq, or with another one than the request's.
        public var brokenCSeq: UInt64 = 0
        /// Answers that answered nothing.
        public var unexpectedAnswers: UInt64 = 0
        /// Requests of the camera's own.
        public var serverRequests: UInt64 = 0
        /// The camera refused GET_PARAMETER, or closed the connection at it.
        public var getParameterRefused = false
        /// Media that were selected and that the camera refused to set up; the others play.
        public var refusedMedia: [Int] = []

        public init() {}
    }
}
