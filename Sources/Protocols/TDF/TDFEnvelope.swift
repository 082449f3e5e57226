public import KeyAccess
public import NanoTDF
internal import Wire

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

    /// - Parameters:
    ///   - policy: its text (``text(of:)``).
    ///   - policyBinding: HMAC-SHA256 of that text under the archive's key.
    public init(recipient: TDFRecipient, policy: String, wrappedKey: [UInt8], policyBinding: [UInt8]) {
        // Of the hexadecimal digits, as the SDKs have it: `sdk/tdf.go` of opentdf/platform.
        let binding = Base64.encode(Hexadecimal.encode(policyBinding).utf8)
        var object = KeyAccessObject(
            type: "wrapped", url: recipient.url, protocol: "kas", wrappedKey: Base64.encode(wrappedKey),
            policyBinding: WrappedKeyBinding(algorithm: "HS256", hash: binding), kid: recipient.kid)
        object.sid = ""
        self.init(policy: policy, keyAccess: object)
    }

    /// A policy as manifests have it: base64 of its JSON.
    ///
    /// - Throws: when no reader would take so long a one.
    public static func text(of policy: PlaintextPolicy) throws(TDFError) -> String {
        let text = Base64.encode(policy.encoded())
        guard text.utf8.count <= TDFManifest.maxPolicyLength else {
            throw .policyTooLong(text.utf8.count, limit: TDFManifest.maxPolicyLength)
        }
        return text
    }
}
