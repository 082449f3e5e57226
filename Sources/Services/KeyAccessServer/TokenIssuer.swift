internal import Cryptography
internal import FoundationEssentials
internal import KeyAccess
internal import Wire

/// Makes access tokens under the key that the KAS keeps for itself, for a box or a lab without an OAuth server.
public struct TokenIssuer: Sendable {
    /// What a token allows.
    public struct Grant: Equatable, Sendable {
        /// Who will hold the token; stands in the KAS's audit lines.
        public var subject: String
        /// `Scope.rewrap`, `Scope.publish`.
        public var scopes: [String]
        /// Names or patterns of streams.
        public var streams: [String]
        public var attributes: [String]
        /// Seconds, 1 … 366 days.
        public var lifetime: Int64
        public var clientID: String?
        /// Whether its holder can have it renewed, without anybody's doing.
        public var isRenewable: Bool

        public init(
            subject: String, scopes: [String], streams: [String], attributes: [String] = [], lifetime: Int64,
            clientID: String? = nil, isRenewable: Bool = false
        ) {
            self.subject = subject
            self.scopes = scopes
            self.streams = streams
            self.attributes = attributes
            self.lifetime = lifetime
            self.clientID = clientID
            self.isRenewable = isRenewable
        }
    }

    public static let maxLifetime: Int64 = 366 * 86_400

    private let store: KeyStore
    private let audience: String

    public init(store: KeyStore, audience: String = KeyAccessServerConfiguration.defaultAudience) {
        self.store = store
        self.audience = audience
    }

    /// - Parameter now: Unix seconds.
    /// - Returns: an ES256 JWT, in compact form. It is a secret.
    public func mint(_ grant: Grant, now: Int64) throws -> String {
        guard !grant.subject.isEmpty, grant.subject.utf8.count <= 256 else {
            throw KeyAccessServerError.invalid(setting: "subject", what: "1…256 bytes are allowed")
        }
        guard (1...Self.maxLifetime).contains(grant.lifetime) else {
            throw KeyAccessServerError.invalid(setting: "lifetime", what: "1 second … 366 days is allowed")
        }
        let register = try AccessRegister(store: store)
        let issuer = KeyAccessServerConfiguration.localIssuer
        // A token made in the second in which the subject's others were revoked is not one of those.
        let revoked = register.revocations.issuedUntil(issuer: issuer, subject: grant.subject) ?? .min
        let issuedAt = revoked >= now && revoked <= now + 30 ? revoked + 1 : now
        var claims = AccessClaims(
            issuer: issuer, subject: grant.subject, audience: [audience],
            expiresAt: NumericDate(seconds: now + grant.lifetime), issuedAt: NumericDate(seconds: issuedAt),
            scopes: grant.scopes, clientID: grant.clientID, streams: grant.streams, attributes: grant.attributes,
            tokenID: Hexadecimal.encode(try SecureRandom.bytes(16)))
        claims.isRenewable = grant.isRenewable
        let ring = store.ring
        let token = try Self.sign(claims, ring)
        _ = try register.note(claims, kid: ring.issuer.first?.kid, now: now)
        return token
    }

    static func sign(_ claims: AccessClaims, _ ring: KeyRing) throws -> String {
        guard let key = ring.issuer.first else {
            throw KeyAccessServerError.invalid(setting: "issuer key", what: "there is none")
        }
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(TokenHeader(algorithm: SignatureAlgorithm.es256.rawValue, keyID: key.kid)),
            claims: try JSONCoding.encode(claims))
        return JSONWebToken.compact(signingInput: input, signature: try key.key.signES256(input))
    }
}
