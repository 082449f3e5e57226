public import RTSP

/// A viewer's side of a camera that sends JPEG images over HTTP: as the parts of one answer without an end
/// (`multipart/x-mixed-replace`), or one frame an answer, asked for again and again. The answer shows which of them.
///
/// Its duties:
/// 1. the request, and the login: the strongest scheme that camera and settings allow, answered once;
/// 2. the answer's head and body apart, and the frames out of that, whatever a read cuts;
/// 3. a stream that ends after frames is asked for again at once: small cameras end theirs every few seconds or
/// minutes;
/// 4. single frames: one request at a time, never faster than asked for, over a connection that is kept where the
/// camera
///    keeps it.
///
/// It does no I/O: its owner writes what `.write` holds, makes a new connection after `.reconnect`, and calls `ticked`
/// at `nextDeadline`. All times are nanoseconds of one clock that never goes back. After `.failed` nothing happens any
/// more.
public struct HTTPVideoSession: Sendable {
    enum Step: Equatable {
        /// A connection is needed, or being made.
        case idle
        /// Between request and the end of the answer's head.
        case head
        /// The first bytes of a body whose type says nothing.
        case unknownBody
        case stream
        case frame
        /// Until it is time for the next frame.
        case resting
        case over
    }

    public struct Configuration: Sendable {
        /// Of `http://` or `https://`.
        public var url: RTSPURL
        public var credentials: RTSPCredentials?
        public var userAgent: String
        /// Send Basic although the connection is not encrypted.
        public var allowsBasic = false
        /// So many logins are shown for one request, where the camera says that no more than the nonce was wrong.
        public var maxLogins = 3
        /// Nanoseconds from one request for a frame to the next, at the least.
        public var interval: UInt64 = 500_000_000
        /// Nanoseconds for the answer's head.
        public var headTimeout: UInt64 = 5_000_000_000
        /// Nanoseconds for a single frame, from its request to its last byte.
        public var frameTimeout: UInt64 = 10_000_000_000
        public var digest: @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]
        /// A fresh random text for Digest's `cnonce`: letters and digits.
        public var makeClientNonce: @Sendable () -> String

        public init(
            url: RTSPURL, credentials: RTSPCredentials?, userAgent: String,
            digest: @escaping @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8],
            makeClientNonce: @escaping @Sendable () -> String
        ) {
            self.url = url
            self.credentials = credentials
            self.userAgent = userAgent
            self.digest = digest
            self.makeClientNonce = makeClientNonce
        }
    }

    public enum Action: Equatable, Sendable {
        case write([UInt8])
        /// Close the connection and make a new one to `place`, then call `connected`.
        case reconnect
        /// Close the connection: nothing of it is needed.
        case close
        /// The camera is about to send frames; again when it does so in the other way from now on.
        ///
        /// - Parameter isPolled: each one is asked for.
        case playing(isPolled: Bool)
        case frame([UInt8])
        /// The frame that was asked for is the one before, byte by byte.
        case unchanged
        /// The session is over.
        case failed(HTTPVideoFailure)
    }

    /// What was learned on the way, for a person and for statistics.
    public struct Facts: Equatable, Sendable {
        /// The camera's Server header.
        public var server: String?
        /// `none`, `Basic`, `Digest MD5` or `Digest SHA-256`: what it accepted.
        public var authentication = "none"
        /// Frames that were cut off, or were none.
        public var damaged: UInt64 = 0
        /// Requests that were answered.
        public var answers: UInt64 = 0
        /// Frames that were whole.
        public var frames: UInt64 = 0

        public init() {}
    }

    /// An unchanged frame goes out all the same after so many nanoseconds: viewers of a scene that stands still join
    /// there.
    static let maxRepeatTime: UInt64 = 1_000_000_000
    /// Nanoseconds from one request for a stream to the next, at the least.
    static let streamInterval: UInt64 = 500_000_000
    /// One after the other, without a frame between.
    static let maxRedirects = 3
    /// Bodies of a type that says nothing are looked at so far.
    static let maxProbeTime = 64

    let configuration: Configuration
    let userAgent: String
    /// Where the request goes: the address that is configured, or where the camera sent us from there.
    public internal(set) var place: RTSPURL
    /// Where the next request begins: a redirect that is not for good leads to one answer.
    var home: RTSPURL
    var redirects = 0
    var step = Step.idle
    var authenticator: Authenticator
    /// How often the request was sent before, each time with another login.
    var attempts = 0
    /// That the request's login answered; nil when it carries none.
    var tried: Challenge?
    var requestedAt: UInt64 = 0
    var restsUntil: UInt64 = 0
    /// The connection can take another request.
    var isReusable = false
    /// It has answered one before this request.
    var isReused = false
    /// The result of a head, or of a body's beginning.
    var pending: [UInt8] = []
    /// Bytes of this connection that are done with.
    var position = 0
    var body: BodyReader?
    var parts: MultipartReader?
    var frame: [UInt8] = []
    var last: (bytes: [UInt8], at: UInt64)?
    /// Cut off, one after the other.
    var cut = 0
    /// Whether each frame is asked for, as was reported; nil: nothing was.
    var isPolled: Bool?
    var isPlaying: Bool { isPolled != nil }
    /// Of this answer.
    var frames: UInt64 = 0
    var damagedBefore: UInt64 = 0

    public internal(set) var facts = Facts()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        userAgent = CameraText.printable(configuration.userAgent, limit: 128)
        place = configuration.url
        home = configuration.url
        authenticator = Self.authenticator(configuration)
    }

    /// The address that is configured decides whether a readable login may go out: whoever answers in plain text can
    /// send us to TLS of their own.
    private static func authenticator(_ configuration: Configuration) -> Authenticator {
        Authenticator(
            credentials: configuration.credentials,
            allowsBasic: configuration.allowsBasic || configuration.url.isSecure, digest: configuration.digest,
            makeClientNonce: configuration.makeClientNonce)
    }

    /// Nothing happens any more.
    public var isOver: Bool { step == .over }

    /// When `ticked` must be called at the latest; nil while nothing is waited for but the camera's next bytes.
    public var nextDeadline: UInt64? {
        switch step {
        case .idle, .over, .stream: nil
        case .head, .unknownBody: requestedAt &+ (isPlaying ? configuration.frameTimeout : configuration.headTimeout)
        case .frame: requestedAt &+ configuration.frameTimeout
        case .resting: restsUntil
        }
    }

    // MARK: Inputs

    /// The transport (with its TLS) is established.
    public mutating func connected(at now: UInt64) -> [Action] {
        guard step == .idle else { return [] }
        isReused = false
        pending = []
        position = 0
        var actions: [Action] = []
        request(at: now, &actions)
        return actions
    }

    /// Bytes of the connection.
    public mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        var actions: [Action] = []
        do throws(RTSPFailure) {
            try take(bytes, at: now, &actions)
        } catch {
            fail(.session(error), &actions)
        }
        facts.damaged = damagedBefore &+ (parts?.damaged ?? 0)
        return actions
    }

    /// The peer ended the connection, or the transport lost it.
    public mutating func connectionClosed(at now: UInt64) -> [Action] {
        var actions: [Action] = []
        isReusable = false
        switch step {
        case .idle, .over, .resting: break
        case .head where isReused && pending.isEmpty:
            // It was closed while the request was on its way: no answer to that.
            reconnect(&actions)
        case .head, .unknownBody:
            // Some cameras close where others answer 401. A login that was shown, and taken for nothing yet, was
            // refused.
            if step == .head, authenticator.accepted == nil, let scheme = tried?.scheme {
                fail(.session(.closedAtLogin(method: "GET", scheme: scheme.name)), &actions)
            } else {
                fail(pending.isEmpty || step == .unknownBody ? .session(.closed(method: "GET")) : .notHTTP, &actions)
            }
        case .stream: streamEnded(at: now, &actions)
        case .frame: frameEnded(isWhole: false, at: now, &actions)
        }
        return actions
    }

    /// Time has passed.
    public mutating func ticked(at now: UInt64) -> [Action] {
        guard let deadline = nextDeadline, now >= deadline else { return [] }
        var actions: [Action] = []
        guard step == .resting else {
            fail(.session(.timeout(method: "GET")), &actions)
            return actions
        }
        let isHere = place.isSameServer(as: home)
        move(to: home)
        if isReusable, isHere {
            isReused = true
            request(at: now, &actions)
        } else {
            reconnect(&actions)
        }
        return actions
    }

    // MARK: Requests

    private mutating func request(at now: UInt64, _ actions: inout [Action]) {
        let url = place
        var text = "GET \(url.path) HTTP/1.1\r\nHost: \(url.authority)\r\nUser-Agent: \(userAgent)\r\n"
        text += "Accept: multipart/x-mixed-replace, image/jpeg, */*;q=0.1\r\nConnection: keep-alive\r\n"
        tried = nil
        if let login = authenticator.authorization(method: "GET", url: url.path) {
            tried = authenticator.challenge
            text += "Authorization: \(login)\r\n"
        }
        requestedAt = now
        step = .head
        actions.append(.write(Array((text + "\r\n").utf8)))
    }

    /// The next request goes there; another server has a login of its own.
    mutating func move(to url: RTSPURL) {
        if !place.isSameServer(as: url) { authenticator = Self.authenticator(configuration) }
        place = url
    }

    /// The request goes out once more, over another connection.
    mutating func reconnect(_ actions: inout [Action]) {
        step = .idle
        body = nil
        // What is counted never goes back.
        damagedBefore = facts.damaged
        parts = nil
        isReusable = false
        actions.append(.reconnect)
    }

    mutating func fail(_ failure: HTTPVideoFailure, _ actions: inout [Action]) {
        end(.failed(failure), &actions)
    }

    mutating func end(_ action: Action, _ actions: inout [Action]) {
        guard step != .over else { return }
        step = .over
        actions.append(action)
    }
}

extension RTSPURL {
    fileprivate func isSameServer(as other: RTSPURL) -> Bool {
        isSecure == other.isSecure && port == other.port && host.lowercased() == other.host.lowercased()
    }
}
