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

        public init(
            subject: String, scopes: [String], streams: [String], attributes: [String] = [], lifetime: Int64,
            clientID: String? = nil
        ) {
            self.subject = subject
            self.scopes = scopes
            self.streams = streams
            self.attributes = attributes
            self.lifetime = lifetime
            self.clientID = clientID
        }
    }

    public static let longestLifetime: Int64 = 366 * 86_400

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
        guard (1...Self.longestLifetime).contains(grant.lifetime) else {
            throw KeyAccessServerError.invalid(setting: "lifetime", what: "1 second … 366 days is allowed")
        }
        guard let key = store.ring.issuer.first else {
            throw KeyAccessServerError.invalid(setting: "issuer key", what: "there is none")
        }
        let claims = AccessClaims(
            issuer: KeyAccessServerConfiguration.localIssuer, subject: grant.subject, audience: [audience],
            expiresAt: NumericDate(seconds: now + grant.lifetime), issuedAt: NumericDate(seconds: now),
            scopes: grant.scopes, clientID: grant.clientID, streams: grant.streams, attributes: grant.attributes,
            tokenID: Hexadecimal.encode(try SecureRandom.bytes(16)))
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(TokenHeader(algorithm: SignatureAlgorithm.es256.rawValue, keyID: key.kid)),
            claims: try JSONCoding.encode(claims))
        return JSONWebToken.compact(signingInput: input, signature: try key.key.signES256(input))
    }

    /// The public keys that verify these tokens, as a JWKS file.
    public func keySet() throws -> String {
        String(decoding: try JSONCoding.encode(store.ring.issuerKeySet), as: UTF8.self)
    }
}
