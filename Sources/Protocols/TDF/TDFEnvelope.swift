public import KeyAccess
public import NanoTDF
internal import Wire

/// For whom archives are wrapped: the RSA key of a KAS, or one that no KAS has.
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
    /// For the KAS.
    public var keyAccess: KeyAccessObject
    /// Other ways to the same key; nil: there are none. Beside `keyAccess`, so that a program which knows nothing of them ends an
    /// archive that has some: without them.
    public var alternatives: [KeyAccessObject]?

    public init(policy: String, keyAccess: KeyAccessObject, alternatives: [KeyAccessObject]? = nil) {
        self.policy = policy
        self.keyAccess = keyAccess
        self.alternatives = alternatives
    }

    /// - Parameters:
    ///   - alternatives: who can open the archive as well, each by itself.
    ///   - policy: its text (``text(of:)``).
    ///   - wrappedKeys: of the archive's key, for the recipient and for each of the alternatives, in this order.
    ///   - policyBinding: HMAC-SHA256 of that text under the archive's key.
    public init(
        recipient: TDFRecipient, alternatives: [TDFRecipient] = [], policy: String, wrappedKeys: [[UInt8]],
        policyBinding: [UInt8]
    ) {
        precondition(wrappedKeys.count == 1 + alternatives.count, "the caller's fault")
        // Of the hexadecimal digits, as the SDKs have it: `sdk/tdf.go` of opentdf/platform.
        let binding = Base64.encode(Hexadecimal.encode(policyBinding).utf8)
        let objects = zip([recipient] + alternatives, wrappedKeys).map { recipient, wrappedKey in
            var object = KeyAccessObject(
                type: "wrapped", url: recipient.url, protocol: "kas", wrappedKey: Base64.encode(wrappedKey),
                policyBinding: WrappedKeyBinding(algorithm: "HS256", hash: binding), kid: recipient.kid)
            // Entries of one name are ways to one share of the key, which is all of it here.
            object.sid = alternatives.isEmpty ? "" : "1"
            return object
        }
        self.init(
            policy: policy, keyAccess: objects[0], alternatives: alternatives.isEmpty ? nil : Array(objects.dropFirst())
        )
    }

    /// As the manifest has them: the KAS's first, which readers that look at one alone take.
    var keyAccessObjects: [KeyAccessObject] { [keyAccess] + (alternatives ?? []) }

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
