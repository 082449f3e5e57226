/// Message `kas.PublicKeyRequest`; over REST the same three come as query parameters.
public struct PublicKeyRequest: Codable, Equatable, Sendable {
    /// `ec`, `ec:secp256r1`, `rsa`, `rsa:2048`; empty or missing leaves the choice to the route.
    public var algorithm: String?
    /// `pkcs8` (the default: SPKI PEM) or `jwk`.
    public var format: String?
    /// `1` omits `kid` from the answer.
    public var version: String?

    public init(algorithm: String? = nil, format: String? = nil, version: String? = nil) {
        self.algorithm = algorithm
        self.format = format
        self.version = version
    }

    private enum CodingKeys: String, CodingKey {
        case algorithm
        case format = "fmt"
        case version = "v"
    }
}

/// Answer to a public-key request; also message `kas.PublicKeyResponse`.
///
/// The key is written under both spellings in use: the Arkavo app reads `public_key`, protojson clients `publicKey`.
public struct PublicKeyResponse: Codable, Equatable, Sendable {
    /// HTTP header by which a KAS says that headers made for its key may name it. arkavo-rs refuses such headers.
    public static let identifierHeader = (name: "WatchBox-Key-Identifiers", value: "1")

    /// SPKI PEM.
    public var publicKey: String
    /// Absent in version 1 of the call.
    public var kid: String?

    public init(publicKey: String, kid: String?) {
        self.publicKey = publicKey
        self.kid = kid
    }

    private enum CodingKeys: String, CodingKey {
        case underscored = "public_key"
        case camelCased = "publicKey"
        case kid
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let key = try container.decodeIfPresent(String.self, forKey: .camelCased) {
            publicKey = key
        } else {
            publicKey = try container.decode(String.self, forKey: .underscored)
        }
        kid = try container.decodeIfPresent(String.self, forKey: .kid)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(publicKey, forKey: .underscored)
        try container.encode(publicKey, forKey: .camelCased)
        try container.encodeIfPresent(kid, forKey: .kid)
    }
}

/// Which kind of KAS key a request names.
public enum KeyAlgorithm: String, Codable, CaseIterable, Sendable {
    case p256 = "ec:secp256r1"
    case rsa2048 = "rsa:2048"

    /// Nil for an algorithm that this service has no key for. The short names mean the one size that we serve.
    public init?(name: String) {
        switch name {
        case "ec", "ec:secp256r1": self = .p256
        case "rsa", "rsa:2048": self = .rsa2048
        default: return nil
        }
    }
}
