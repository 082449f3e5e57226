public import KeyAccess

/// For whom archives are wrapped: the RSA key of a KAS.
public struct TDFRecipient: Equatable, Sendable {
    /// Base URL of the KAS, for readers of the manifest.
    public var url: String
    /// The name of the key at the KAS; nil: the KAS tries its keys.
    public var kid: String?
    /// SubjectPublicKeyInfo of an RSA key of 2048 to 4096 bits.
    public var publicKeyPEM: String

    public init(url: String, kid: String? = nil, publicKeyPEM: String) {
        self.url = url
        self.kid = kid
        self.publicKeyPEM = publicKeyPEM
    }
}

/// What of an archive is known before its first segment: the wrapped key, and the policy that is bound to it.
///
/// A recording that keeps it, and an entry for each segment, can be ended after a crash without the key.
public struct TDFEnvelope: Codable, Equatable, Sendable {
    /// Base64 of the policy's JSON.
    public var policy: String
    public var keyAccess: KeyAccessObject

    public init(policy: String, keyAccess: KeyAccessObject) {
        self.policy = policy
        self.keyAccess = keyAccess
    }
}
