public import KeyAccess
internal import Wire

/// The manifest of an archive of profile P: a film in HTTP Live Streaming, encrypted sample by sample, that FairPlay players open. Its layout is that of
/// Arkavo's recordings; what those do not have is optional for their readers.
public struct PlayableManifest: Codable, Equatable, Sendable {
    public struct EncryptionInformation: Codable, Equatable, Sendable {
        /// `split`, also where one KAS has the whole key.
        public var type: String
        /// Base64 of the policy's JSON. The policy binding covers this text.
        public var policy: String?
        public var keyAccess: [KeyAccessObject]
        public var method: TDFManifest.Method
        public var integrityInformation: Integrity?
    }

    public struct Integrity: Codable, Equatable, Sendable {
        /// HS256 of the text of `encryptedMetadata`, which has the hash of each file, under a key that is derived from the archive's.
        public var rootSignature: TDFManifest.IntegrityInformation.RootSignature
    }

    public var schemaVersion: String?
    /// The same under the name that the specification's text has.
    public var specVersion: String?
    public var payload: TDFManifest.Payload
    public var encryptionInformation: EncryptionInformation
    public var meta: TDFManifest.Meta?

    private enum CodingKeys: String, CodingKey {
        case schemaVersion, payload, encryptionInformation, meta
        case specVersion = "tdf_spec_version"
    }

    /// - Parameters:
    ///   - metadata: JSON of a ``PlayableMetadata``, in base64.
    ///   - signature: of `metadata`, 32 bytes.
    ///   - iv: of all samples, 16 bytes.
    public init(
        envelope: TDFEnvelope, metadata: String, signature: [UInt8], iv: [UInt8], meta: TDFManifest.Meta
    ) {
        schemaVersion = TDFManifest.version
        specVersion = TDFManifest.version
        payload = TDFManifest.Payload(
            type: "reference", url: PlayableContainer.playlistName, protocol: "zip", isEncrypted: true,
            mimeType: "application/vnd.apple.mpegurl")
        var object = envelope.keyAccess
        object.encryptedMetadata = metadata
        encryptionInformation = EncryptionInformation(
            type: "split", policy: envelope.policy, keyAccess: [object],
            method: TDFManifest.Method(algorithm: "AES-128-CBC", iv: Base64.encode(iv), isStreamable: true),
            integrityInformation: Integrity(
                rootSignature: .init(algorithm: "HS256", signature: Base64.encode(signature))))
        self.meta = meta
    }

    /// The bytes of `encryptedMetadata`, when the rest is of profile P.
    public func metadataJSON() throws(TDFError) -> [UInt8] {
        let path = "encryptionInformation"
        try Self.require("\(path).type", encryptionInformation.type, "split")
        try Self.require("\(path).method.algorithm", encryptionInformation.method.algorithm, "AES-128-CBC")
        try TDFManifest.check(
            encryptionInformation.keyAccess, policy: encryptionInformation.policy ?? "", path: path)
        for (index, object) in encryptionInformation.keyAccess.enumerated() {
            if let binding = object.policyBinding {
                try Self.require(
                    "\(path).keyAccess.[\(index)].policyBinding.alg", binding.algorithm ?? "HS256", "HS256")
            }
        }
        if let signature = encryptionInformation.integrityInformation?.rootSignature {
            try Self.require(
                "\(path).integrityInformation.rootSignature.alg", signature.algorithm, "HS256")
        }
        guard let text = encryptionInformation.keyAccess[0].encryptedMetadata, let json = try? Base64.decode(text)
        else {
            throw .manifest(
                path: "\(path).keyAccess.[0].encryptedMetadata", .unreadable("it is missing, or not base64"))
        }
        return json
    }

    /// The IV that the manifest names, when that is one.
    public var iv: [UInt8]? {
        guard let text = encryptionInformation.method.iv, text.utf8.count <= 64,
            let bytes = try? Base64.decode(text), bytes.count == 16
        else { return nil }
        return bytes
    }

    private static func require(_ path: String, _ found: String, _ expected: String) throws(TDFError) {
        guard found == expected else {
            throw .manifest(
                path: path,
                .unsupported(found: ShownText.ascii(found, limit: 40, replacing: "?"), expected: expected))
        }
    }
}
