public import KeyAccess
internal import Wire

/// The manifest of an archive (OpenTDF 4.3.0, `schema/OpenTDF/manifest.md` of opentdf/spec), as far as profile S has it.
/// Members that are not here, assertions among them, are passed over.
public struct TDFManifest: Codable, Equatable, Sendable {
    /// Bytes of JSON that are read.
    public static let maxBytes = 16 << 20
    /// Segments that are read.
    public static let maxSegments = 200_000
    /// Segments that are written: each has at most 95 bytes of JSON without escaped slashes, so that ``maxBytes`` holds them all.
    public static let maxWrittenSegments = 160_000
    /// What is written. A manifest without version is an older one, whose hashes are hexadecimal.
    public static let version = "4.3.0"

    public struct Payload: Codable, Equatable, Sendable {
        /// `reference`
        public var type: String
        /// The ZIP entry, `0.payload`.
        public var url: String
        /// `zip`
        public var `protocol`: String
        public var isEncrypted: Bool
        public var mimeType: String?
    }

    public struct EncryptionInformation: Codable, Equatable, Sendable {
        /// `split`, also where one KAS has the whole key.
        public var type: String
        /// Base64 of the policy's JSON. The policy binding covers this text, not what it decodes to.
        public var policy: String
        public var keyAccess: [KeyAccessObject]
        public var method: Method
        public var integrityInformation: IntegrityInformation
    }

    public struct Method: Codable, Equatable, Sendable {
        /// `AES-256-GCM`
        public var algorithm: String
        /// Empty: each segment has its own.
        public var iv: String?
        public var isStreamable: Bool?
    }

    /// For readers of Arkavo's.
    public struct Meta: Codable, Equatable, Sendable {
        /// UUID in upper case.
        public var assetId: String?
        /// ISO 8601 in whole seconds, UTC: `2026-11-28T15:23:56Z`.
        public var protectedAt: String?

        public init(assetId: String?, protectedAt: String?) {
            self.assetId = assetId
            self.protectedAt = protectedAt
        }
    }

    public var schemaVersion: String?
    /// The same under the name that the specification's text has.
    public var specVersion: String?
    public var payload: Payload
    public var encryptionInformation: EncryptionInformation
    public var meta: Meta?

    private enum CodingKeys: String, CodingKey {
        case schemaVersion, payload, encryptionInformation, meta
        case specVersion = "tdf_spec_version"
    }

    /// Of segments that were sealed in one go, or that a journal holds; no key is needed.
    ///
    /// - Parameters:
    ///   - rootSignature: the one that came with the last segment.
    ///   - segmentSize: bytes of plaintext that most segments have.
    public init(
        envelope: TDFEnvelope, segments: [TDFSegmentEntry], rootSignature: [UInt8], segmentSize: Int,
        mimeType: String, meta: Meta
    ) {
        schemaVersion = Self.version
        specVersion = Self.version
        payload = Payload(
            type: "reference", url: TDFContainer.payloadName, protocol: "zip", isEncrypted: true, mimeType: mimeType)
        encryptionInformation = EncryptionInformation(
            type: "split", policy: envelope.policy, keyAccess: envelope.keyAccessObjects,
            method: Method(algorithm: "AES-256-GCM", iv: "", isStreamable: true),
            integrityInformation: IntegrityInformation(
                rootSignature: .init(algorithm: "HS256", signature: Base64.encode(rootSignature)),
                segmentHashAlgorithm: "GMAC", segmentSizeDefault: segmentSize,
                encryptedSegmentSizeDefault: segmentSize + TDFSegmentEntry.overhead, segments: segments))
        self.meta = meta
    }
}
