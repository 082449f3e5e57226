public import KeyAccess
public import Wire

/// Everything that an operator can set. Reads from JSON with every member optional but the state directory.
public struct KeyAccessServerConfiguration: Codable, Equatable, Sendable {
    /// `iss` of the tokens that the service's own key signs.
    public static let localIssuer = "urn:watchbox:kas"
    /// `aud` that a token must hold, unless set otherwise.
    public static let defaultAudience = "urn:watchbox:kas"

    /// An OAuth server whose tokens are accepted.
    public struct TrustedIssuer: Codable, Equatable, Sendable {
        /// The exact `iss`.
        public var issuer: String
        /// A JWKS file (ES256, RS256, EdDSA); read again when it changes. Either this or `jwksURL`.
        public var jwksFile: String?
        /// Where the issuer publishes its JWKS: https, or http on this machine. Asked for again as often as its
        /// `max-age` says, within a minute and a day.
        public var jwksURL: String?
        /// Nil: the service's audience.
        public var audience: String?
        public var tokenEndpoint: String?
    }

    public struct TLSFiles: Codable, Equatable, Sendable {
        /// PEM: the server's certificate, then intermediate ones.
        public var certificateChainFile: String
        /// PEM, unencrypted.
        public var privateKeyFile: String

        public init(certificateChainFile: String, privateKeyFile: String) {
            self.certificateChainFile = certificateChainFile
            self.privateKeyFile = privateKeyFile
        }
    }

    public struct RateLimit: Codable, Equatable, Sendable {
        /// Requests per second in the long run.
        public var perSecond: Double
        /// Requests at once.
        public var burst: Double
    }

    /// The HS256 secret of development mode. Has a description of its own so that it stays out of logs.
    public struct DevelopmentSecret: Codable, Equatable, Sendable, Concealed {
        let text: String

        public init(_ text: String) {
            self.text = text
        }

        public init(from decoder: any Decoder) throws {
            text = try decoder.singleValueContainer().decode(String.self)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }

        public var description: String { "(secret)" }
    }

    /// Keys, registrations; mode 0700, made at the first start.
    public var stateDirectory: String
    public var host = "127.0.0.1"
    /// 0: any free port.
    public var port = 8443
    /// Nil: plain HTTP, and then on loopback only.
    public var tls: TLSFiles?
    /// Scheme, host and port as clients write them, for the discovery document and DPoP. Nil: taken from the request, for
    /// DPoP only on loopback without TLS: elsewhere a token that is bound to a key is refused.
    public var publicURL: String?
    public var audience = KeyAccessServerConfiguration.defaultAudience
    public var issuers: [TrustedIssuer] = []
    /// Grants beyond those in the tokens.
    public var access = AccessRules()
    /// A key is given for registered headers only. Off only for publishers that can't register; then a policy can be swapped by
    /// anyone.
    public var requiresRegisteredHeaders = true
    /// Answers for headers whose policy binding nobody can verify (OpenTDFKit d8ffeff). A registered header needs none.
    public var allowsUnverifiableBindings = false
    /// TDF3 archives without a policy binding, an older form.
    public var allowsUnboundTDF3 = false
    public var defaultSessionSalt = SessionSalt.l1l
    /// By OAuth client id.
    public var sessionSalts: [String: SessionSalt] = [:]
    /// Longest request token, in seconds. otdf-python asks for 7200.
    public var maximumRequestLifetime: Int64 = 7200
    /// How long after its `iat` a request token is answered at most, in seconds, however long it lives: until then it is
    /// remembered.
    public var maximumRequestAge: Int64 = 300
    /// A subject is a token, and a thousand viewers of one stream may share it. What the limit keeps is that one token
    /// costs the others no more than a part of the processor.
    public var subjectRateLimit = RateLimit(perSecond: 500, burst: 2000)
    /// Of one IPv4 address or IPv6 /64. Generous: all viewers behind one router share it.
    public var addressRateLimit = RateLimit(perSecond: 1000, burst: 2000)
    /// At the same time. Each takes a descriptor: the unit's LimitNOFILE is above.
    public var maximumConnections = 8192
    /// Of one IPv4 address or IPv6 /64. A connection that is answered gives its place to the next.
    public var maximumConnectionsPerAddress = 64
    /// JSON lines; nil: through the logger.
    public var auditFile: String?
    /// How long the KAS seals for one P-256 key before a new one takes its place, in seconds; 0: until somebody says so.
    public var keyEpochSeconds: Int64 = 86_400
    /// How long a replaced key keeps working, in seconds. Then it is destroyed, and with it the way to every stream
    /// that was sealed for it. A week is the longest that a registration lasts.
    public var keyOverlapSeconds: Int64 = 7 * 86_400
    /// Whose subjects policies and rules name without their issuer; nil: this KAS's own tokens.
    public var defaultIssuer: String?
    /// Accept HS256 tokens under `developmentSecret`. Never with TLS or beyond loopback.
    public var isDevelopment = false
    /// At least 32 bytes; only in development mode. Tokens under it name the issuer `developmentIssuer`.
    public var developmentSecret: DevelopmentSecret?
    public var developmentIssuer = "urn:watchbox:development"

    public init(stateDirectory: String) {
        self.stateDirectory = stateDirectory
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(stateDirectory: try container.decode(String.self, forKey: .stateDirectory))
        func read<T: Decodable>(_ key: CodingKeys, _ value: inout T) throws {
            if let given = try container.decodeIfPresent(T.self, forKey: key) { value = given }
        }
        try read(.host, &host)
        try read(.port, &port)
        tls = try container.decodeIfPresent(TLSFiles.self, forKey: .tls)
        publicURL = try container.decodeIfPresent(String.self, forKey: .publicURL)
        try read(.audience, &audience)
        try read(.issuers, &issuers)
        try read(.access, &access)
        try read(.requiresRegisteredHeaders, &requiresRegisteredHeaders)
        try read(.allowsUnverifiableBindings, &allowsUnverifiableBindings)
        try read(.allowsUnboundTDF3, &allowsUnboundTDF3)
        try read(.defaultSessionSalt, &defaultSessionSalt)
        try read(.sessionSalts, &sessionSalts)
        try read(.maximumRequestLifetime, &maximumRequestLifetime)
        try read(.subjectRateLimit, &subjectRateLimit)
        try read(.addressRateLimit, &addressRateLimit)
        try read(.maximumRequestAge, &maximumRequestAge)
        try read(.maximumConnections, &maximumConnections)
        try read(.maximumConnectionsPerAddress, &maximumConnectionsPerAddress)
        auditFile = try container.decodeIfPresent(String.self, forKey: .auditFile)
        try read(.keyEpochSeconds, &keyEpochSeconds)
        try read(.keyOverlapSeconds, &keyOverlapSeconds)
        defaultIssuer = try container.decodeIfPresent(String.self, forKey: .defaultIssuer)
        try read(.isDevelopment, &isDevelopment)
        developmentSecret = try container.decodeIfPresent(DevelopmentSecret.self, forKey: .developmentSecret)
        try read(.developmentIssuer, &developmentIssuer)
    }
}

/// Why the service does not start. The description says what to do next.
public enum KeyAccessServerError: Error, Equatable, Sendable {
    case plaintextBeyondLoopback(host: String)
    case developmentBeyondLoopback
    case developmentSecretTooShort(count: Int)
    case secretOutsideDevelopment
    case file(path: String, what: String)
    case invalid(setting: String, what: String)
}

extension KeyAccessServerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .plaintextBeyondLoopback(let host):
            "The KAS does not serve plain HTTP on \(host): tokens and keys would cross the network readable. "
                + "Set tls (certificate and key), or host to 127.0.0.1."
        case .developmentBeyondLoopback:
            "Development mode works on 127.0.0.1 only. Set host to 127.0.0.1, or configure an issuer with a JWKS file."
        case .developmentSecretTooShort(let count):
            "The development secret has \(count) bytes; HS256 needs 32 or more."
        case .secretOutsideDevelopment:
            "A development secret is set, but development mode is off. Remove the secret, or switch the mode on."
        case .file(let path, let what): "\(path): \(what)."
        case .invalid(let setting, let what): "Setting \(setting): \(what)."
        }
    }
}

extension KeyAccessServerConfiguration {
    /// Whether the address to bind is one that only this machine reaches.
    var isLoopback: Bool { NetworkAddress.isLoopback(host: host) }

    /// What is bound. A name would be looked up, and the answer need not be loopback.
    var bindHost: String { host == "localhost" ? "127.0.0.1" : host }

    func check() throws(KeyAccessServerError) {
        guard tls != nil || isLoopback else { throw .plaintextBeyondLoopback(host: host) }
        guard (0...65_535).contains(port) else { throw .invalid(setting: "port", what: "\(port) is not 0…65535") }
        if isDevelopment {
            guard isLoopback else { throw .developmentBeyondLoopback }
            if let count = developmentSecret?.text.utf8.count, count < 32 {
                throw .developmentSecretTooShort(count: count)
            }
        } else if developmentSecret != nil {
            throw .secretOutsideDevelopment
        }
        for issuer in issuers {
            guard issuer.issuer != Self.localIssuer else {
                throw .invalid(setting: "issuers", what: "\(issuer.issuer) is this service's own name")
            }
            guard (issuer.jwksFile == nil) != (issuer.jwksURL == nil) else {
                throw .invalid(setting: "issuers", what: "\(issuer.issuer) needs either jwksFile or jwksURL")
            }
            if let url = issuer.jwksURL, !Self.isTrustworthy(url) {
                throw .invalid(
                    setting: "issuers",
                    what: "jwksURL of \(issuer.issuer) must begin with https://: whoever can change the keys on their "
                        + "way can make any token")
            }
        }
        guard Set(issuers.map(\.issuer)).count == issuers.count else {
            throw .invalid(setting: "issuers", what: "an issuer is named twice")
        }
        for (name, limit) in [("subjectRateLimit", subjectRateLimit), ("addressRateLimit", addressRateLimit)] {
            guard limit.perSecond > 0, limit.burst >= 1, limit.perSecond.isFinite, limit.burst.isFinite else {
                throw .invalid(setting: name, what: "the rate must be above 0 and the burst at least 1")
            }
        }
        for (name, value) in [
            ("maximumConnections", Int64(maximumConnections)),
            ("maximumConnectionsPerAddress", Int64(maximumConnectionsPerAddress)),
            ("maximumRequestLifetime", maximumRequestLifetime), ("maximumRequestAge", maximumRequestAge),
        ] where value <= 0 {
            throw .invalid(setting: name, what: "must be above 0")
        }
        guard keyOverlapSeconds >= 0 else { throw .invalid(setting: "keyOverlapSeconds", what: "must not be negative") }
        guard keyEpochSeconds == 0 || keyEpochSeconds >= 600 else {
            throw .invalid(setting: "keyEpochSeconds", what: "must be 0, or at least 600: cameras look every 300 s")
        }
    }

    /// Whose subjects need no issuer before their name.
    var subjectIssuer: String { defaultIssuer ?? Self.localIssuer }

    /// https, or http to this machine.
    private static func isTrustworthy(_ url: String) -> Bool {
        if url.hasPrefix("https://") { return true }
        guard url.hasPrefix("http://") else { return false }
        let host = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != ":" }
        return host == "127.0.0.1" || host == "localhost"
    }

    var connectionLimits: ConnectionTable.Limits {
        ConnectionTable.Limits(
            connections: maximumConnections, connectionsPerNetwork: maximumConnectionsPerAddress)
    }

    /// The length of an epoch, for `KeyStore`. Headers of publishers that cannot register name no key: with several in
    /// service nothing would show which one they are for, so there are no epochs then.
    public var scheduledEpochSeconds: Int64 { requiresRegisteredHeaders ? keyEpochSeconds : 0 }

    /// The salt for NanoTDF keys.
    func sessionSalt(client: String?) -> SessionSalt {
        client.flatMap { sessionSalts[$0] } ?? defaultSessionSalt
    }

    /// The salt for TDF3 keys: the platform's own, unless a client is known to use none.
    func sessionSaltTDF3(client: String?) -> SessionSalt {
        sessionSalt(client: client) == .empty ? .empty : .tdf
    }
}
