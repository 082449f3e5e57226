internal import Wire

/// The login of one session: which challenge is answered, and the answers (RFC 7616 §3.4, RFC 7617 §2).
package struct Authenticator: Sendable {
    /// Nil: nothing is answered.
    package let credentials: RTSPCredentials?
    /// Basic may be sent.
    let allowsBasic: Bool
    let digest: @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8]
    let makeClientNonce: @Sendable () -> String

    /// The challenge that is answered; nil before the first one.
    package private(set) var challenge: Challenge?
    /// The camera took an answer: what it offers later must not be weaker.
    package private(set) var accepted: Challenge.Scheme?
    private var clientNonce = ""
    private var nonceCount: UInt32 = 0

    package init(
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

    package mutating func adopt(_ challenge: Challenge) {
        self.challenge = challenge
        clientNonce = challenge.scheme == .basic ? "" : makeClientNonce()
        nonceCount = 0
    }

    package mutating func wasAccepted() {
        accepted = challenge?.scheme
    }

    // MARK: A refusal

    package enum Verdict: Equatable, Sendable {
        /// To be adopted; then the request goes out once more.
        case answer(Challenge)
        case fail(RTSPFailure)
    }

    /// What becomes of a request that was refused with 401. It is answered once; again only when that is worth it:
    /// accounts lock after a few wrong answers.
    ///
    /// - Parameters:
    ///   - headers: of WWW-Authenticate.
    ///   - tried: the challenge that the request answered; nil when it carried no login.
    ///   - attempts: how often it was sent before, each time with another login.
    package func verdict(on headers: [String], tried: Challenge?, attempts: Int, maxLogins: Int) -> Verdict {
        let challenges = Challenge.parse(headers)
        let offered = challenges.map { shown($0.name, limit: 32) }
        guard credentials != nil else { return .fail(.loginNeeded(offered: offered)) }
        guard let challenge = strongest(of: challenges) else {
            return .fail(nothingToAnswer(challenges, offered: offered, tried: tried))
        }
        if let tried, !isWorthAnotherLogin(challenge, tried: tried, attempts: attempts, maxLogins: maxLogins) {
            return .fail(refusal(of: tried))
        }
        return .answer(challenge)
    }

    /// Whether a login that was refused may be tried again: the camera says that no more than the nonce was wrong, or
    /// it took this login before and has a new nonce now.
    func isWorthAnotherLogin(_ challenge: Challenge?, tried: Challenge, attempts: Int, maxLogins: Int) -> Bool {
        guard let challenge, challenge.scheme != .basic, challenge.nonce != tried.nonce, attempts < maxLogins else {
            return false
        }
        return challenge.isStale || (accepted != nil && attempts == 0)
    }

    private func nothingToAnswer(_ challenges: [Challenge], offered: [String], tried: Challenge?) -> RTSPFailure {
        if let tried { return refusal(of: tried) }
        if let basic = challenges.first(where: { $0.scheme == .basic }), accepted == nil {
            return .basicNotAllowed(realm: shown(basic.realm, limit: 64))
        }
        return .loginUnsupported(offered: offered)
    }

    private func refusal(of tried: Challenge) -> RTSPFailure {
        .loginRefused(scheme: tried.scheme?.name ?? tried.name, realm: shown(tried.realm, limit: 64))
    }

    /// A camera's text for a person: cut, printable, and without the password if it repeats that.
    package func shown(_ text: String, limit: Int) -> String {
        let kept = CameraText.printable(text, limit: limit)
        guard let credentials, !credentials.password.isEmpty else { return kept }
        return Self.isRevealing(kept, credentials) ? "(left out)" : kept
    }

    // MARK: An answer

    /// The Authorization header for one request; nil before a challenge came.
    package mutating func authorization(method: String, url: String) -> String? {
        guard let credentials, let challenge, let scheme = challenge.scheme else { return nil }
        if scheme == .basic {
            return "Basic " + Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
        }
        nonceCount &+= 1
        let count = Hexadecimal.encode(nonceCount)
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

    /// Whether a string holds the password, as it is or as Basic writes it.
    static func isRevealing(_ text: String, _ credentials: RTSPCredentials) -> Bool {
        let basic = Base64.encode(Array("\(credentials.user):\(credentials.password)".utf8))
        return text.contains(credentials.password) || text.contains(basic)
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
