internal import Wire

/// The login of one session: which challenge is answered, and the answers (RFC 7616 §3.4, RFC 7617 §2).
struct Authenticator: Sendable {
    /// Nil: nothing is answered.
    let credentials: RTSPCredentials?
    /// Basic may be sent.
    let allowsBasic: Bool
    let digest: @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]
    let makeClientNonce: @Sendable () -> String

    /// The challenge that is answered; nil before the first one.
    private(set) var challenge: Challenge?
    /// The camera took an answer: what it offers later must not be weaker.
    private(set) var accepted: Challenge.Scheme?
    private var clientNonce = ""
    private var nonceCount: UInt32 = 0

    init(
        credentials: RTSPCredentials?, allowsBasic: Bool,
        digest: @escaping @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8],
        makeClientNonce: @escaping @Sendable () -> String
    ) {
        self.credentials = credentials
        self.allowsBasic = allowsBasic
        self.digest = digest
        self.makeClientNonce = makeClientNonce
    }

    /// The strongest one that may be answered.
    func strongest(of challenges: [Challenge]) -> Challenge? {
        var best: Challenge?
        for challenge in challenges {
            guard let scheme = challenge.scheme, scheme != .basic || allowsBasic else { continue }
            if let accepted, scheme < accepted { continue }
            if let known = best?.scheme, known >= scheme { continue }
            best = challenge
        }
        return best
    }

    mutating func adopt(_ challenge: Challenge) {
        self.challenge = challenge
        clientNonce = challenge.scheme == .basic ? "" : makeClientNonce()
        nonceCount = 0
    }

    mutating func wasAccepted() {
        accepted = challenge?.scheme
    }

    /// The Authorization header for one request; nil before a challenge came.
    mutating func authorization(method: String, url: String) -> String? {
        guard let credentials, let challenge, let scheme = challenge.scheme else { return nil }
        if scheme == .basic {
            return "Basic " + Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
        }
        nonceCount &+= 1
        let count = Self.hexadecimal(nonceCount)
        let response = Self.response(
            credentials: credentials, challenge: challenge, scheme: scheme, method: method, url: url,
            clientNonce: clientNonce, nonceCount: count, digest: digest)
        var fields = ["username=\(Self.quoted(credentials.user))", "realm=\(Self.quoted(challenge.realm))"]
        fields += ["nonce=\(Self.quoted(challenge.nonce))", "uri=\(Self.quoted(url))", "response=\"\(response)\""]
        if let algorithm = challenge.algorithm {
            fields.append("algorithm=\(CameraText.printable(algorithm, limit: 24))")
        }
        if challenge.protectsQuality {
            fields += ["cnonce=\(Self.quoted(clientNonce))", "qop=auth", "nc=\(count)"]
        } else if scheme.isSession {
            fields.append("cnonce=\(Self.quoted(clientNonce))")
        }
        if let opaque = challenge.opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    static func response(
        credentials: RTSPCredentials, challenge: Challenge, scheme: Challenge.Scheme, method: String, url: String,
        clientNonce: String, nonceCount: String, digest: (DigestAlgorithm, [UInt8]) -> [UInt8]
    ) -> String {
        func hash(_ text: String) -> String { Hexadecimal.encode(digest(scheme.algorithm, Array(text.utf8))) }
        var secret = hash("\(credentials.user):\(challenge.realm):\(credentials.password)")
        if scheme.isSession { secret = hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let quality = challenge.protectsQuality ? ":\(nonceCount):\(clientNonce):auth" : ""
        return hash("\(secret):\(challenge.nonce)\(quality):\(hash("\(method):\(url)"))")
    }

    /// Whether a text holds the password, as it is or as Basic writes it.
    static func isRevealing(_ text: String, _ credentials: RTSPCredentials) -> Bool {
        let basic = Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
        return text.contains(credentials.password) || text.contains(basic)
    }

    private static func hexadecimal(_ count: UInt32) -> String {
        var bytes: [UInt8] = []
        bytes.appendUInt32(count)
        return Hexadecimal.encode(bytes)
    }

    /// A quoted string: control characters, which no header may hold, are left out.
    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 where byte >= 0x20 && byte != 0x7F {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
