internal import Cryptography
internal import KeyAccess

/// Public facts about one key of the service.
public struct KeyDescription: Codable, Equatable, Sendable {
    /// What a key is for.
    public enum Purpose: String, Codable, Sendable {
        case p256 = "ec:secp256r1"
        case rsa2048 = "rsa:2048"
        /// Signs the access tokens that this machine issues itself.
        case issuer = "issuer:ES256"
    }

    public var kid: String
    public var purpose: Purpose
    /// Unix seconds.
    public var createdAt: Int64
    /// Unix seconds at which a newer key took its place; nil for the current one.
    public var retiredAt: Int64?
    /// Unix seconds at which the private key was destroyed; what was sealed for it opens no more.
    public var destroyedAt: Int64?

    /// For people.
    public enum State: String, Codable, Sendable {
        case current, retired, destroyed
    }

    public var state: State { destroyedAt != nil ? .destroyed : retiredAt != nil ? .retired : .current }
}

/// A private key with its name.
struct NamedKey<Key: Sendable>: Sendable {
    var kid: String
    var key: Key
}

/// The keys as they are in memory, the current one of each purpose first, then those within their overlap. Described are
/// all that the directory remembers, those too that were destroyed.
struct KeyRing: Sendable {
    var p256: [NamedKey<ECPrivateKey>] = []
    var rsa: [NamedKey<RSAPrivateKey>] = []
    var issuer: [NamedKey<ECPrivateKey>] = []
    var descriptions: [KeyDescription] = []

    /// Kid and SPKI PEM of the current key.
    func publicKey(_ algorithm: KeyAlgorithm) throws -> (kid: String, pem: String)? {
        switch algorithm {
        case .p256: try p256.first.map { ($0.kid, try $0.key.publicKey.spkiPEM()) }
        case .rsa2048: try rsa.first.map { ($0.kid, try $0.key.publicKey.spkiPEM()) }
        }
    }
}
