/// One wrapped key: a NanoTDF header, or the `keyAccess` entry of a TDF3 manifest.
public struct KeyAccessObject: Codable, Equatable, Sendable {
    /// `remote` (NanoTDF), `wrapped` (RSA) or `ec-wrapped`; Go sends none for NanoTDF.
    public var type: String?
    /// Where the object's author expects its KAS. Never followed.
    public var url: String?
    public var `protocol`: String?
    /// Base64 of a NanoTDF header; clients written for arkavo-rs put an RSA-wrapped key here.
    public var header: String?
    /// Base64 of the wrapped key (TDF3).
    public var wrappedKey: String?
    public var policyBinding: WrappedKeyBinding?
    /// The KAS key that wrapped this one.
    public var kid: String?
    /// Names the share when a key is split.
    public var sid: String?
    public var encryptedMetadata: String?
    /// PEM (type `ec-wrapped`).
    public var ephemeralPublicKey: String?

    public init(
        type: String? = nil, url: String? = nil, protocol: String? = nil, header: String? = nil,
        wrappedKey: String? = nil, policyBinding: WrappedKeyBinding? = nil, kid: String? = nil,
        ephemeralPublicKey: String? = nil
    ) {
        self.type = type
        self.url = url
        self.protocol = `protocol`
        self.header = header
        self.wrappedKey = wrappedKey
        self.policyBinding = policyBinding
        self.kid = kid
        self.ephemeralPublicKey = ephemeralPublicKey
    }
}

/// HMAC over the policy under the wrapped key (TDF3).
public struct WrappedKeyBinding: Codable, Equatable, Sendable {
    /// `HS256`; absent in old manifests.
    public var algorithm: String?
    /// Base64 of the 32 bytes, or of their 64 hexadecimal digits.
    public var hash: String

    public init(algorithm: String?, hash: String) {
        self.algorithm = algorithm
        self.hash = hash
    }

    private enum CodingKeys: String, CodingKey {
        case algorithm = "alg"
        case hash
    }

    /// Old manifests hold the hash alone, as a string.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self.init(algorithm: nil, hash: text)
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            algorithm: try container.decodeIfPresent(String.self, forKey: .algorithm),
            hash: try container.decode(String.self, forKey: .hash))
    }
}
