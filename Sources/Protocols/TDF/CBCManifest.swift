public import KeyAccess
internal import Wire

/// The manifest of an archive of profile F, which is encrypted as a whole: what Arkavo's `TDFManifestLite` readers take, with a policy and a MAC
/// that these pass over.
public struct CBCManifest: Codable, Equatable, Sendable {
    /// Of `method`.
    public static let algorithm = "AES-128-CBC"
    static let ivByteCount = 16
    static let macByteCount = 32

    /// Writers of other houses may leave members out, or all of it.
    public struct Payload: Codable, Equatable, Sendable {
        public var type: String?
        public var url: String?
        public var `protocol`: String?
        public var isEncrypted: Bool?
        public var mimeType: String?
    }

    public struct EncryptionInformation: Codable, Equatable, Sendable {
        public var type: String?
        /// Base64 of the policy's JSON; nil: the writer named none.
        public var policy: String?
        public var keyAccess: [KeyAccessObject]
        public var method: TDFManifest.Method
        public var integrityInformation: Integrity?
    }

    public struct Integrity: Codable, Equatable, Sendable {
        /// Base64 of the MAC of the payload; nil: there is none.
        public var rootSignature: TDFManifest.IntegrityInformation.RootSignature?
    }

    public var payload: Payload?
    public var encryptionInformation: EncryptionInformation
    public var meta: TDFManifest.Meta?

    /// - Parameters:
    ///   - iv: 16 bytes.
    ///   - mac: of the payload, 32 bytes.
    public init(envelope: TDFEnvelope, iv: [UInt8], mac: [UInt8], mimeType: String, meta: TDFManifest.Meta) {
        payload = Payload(
            type: "reference", url: TDFContainer.payloadName, protocol: "zip", isEncrypted: true, mimeType: mimeType)
        encryptionInformation = EncryptionInformation(
            type: "split", policy: envelope.policy, keyAccess: [envelope.keyAccess],
            method: TDFManifest.Method(algorithm: Self.algorithm, iv: Base64.encode(iv), isStreamable: false),
            integrityInformation: Integrity(
                rootSignature: .init(algorithm: "HS256", signature: Base64.encode(mac))))
        self.meta = meta
    }

    /// Whether it is one of profile F.
    ///
    /// - Returns: the IV, and the MAC of the payload; nil: it has none.
    public func checked() throws(TDFError) -> (iv: [UInt8], mac: [UInt8]?) {
        if let payload {
            try Self.require("payload.type", payload.type ?? "reference", "reference")
            try Self.require("payload.url", payload.url ?? TDFContainer.payloadName, TDFContainer.payloadName)
            try Self.require("payload.protocol", payload.protocol ?? "zip", "zip")
            guard payload.isEncrypted ?? true else {
                throw .manifest(path: "payload.isEncrypted", .unsupported(found: "false", expected: "true"))
            }
        }
        let path = "encryptionInformation"
        let encryption = encryptionInformation
        try Self.require("\(path).type", encryption.type ?? "split", "split")
        try Self.require("\(path).method.algorithm", encryption.method.algorithm, Self.algorithm)
        try TDFManifest.check(encryption.keyAccess, policy: encryption.policy ?? "", path: path)
        guard let iv = Self.bytes(encryption.method.iv ?? "", count: Self.ivByteCount) else {
            throw .manifest(path: "\(path).method.iv", .notBase64(byteCount: Self.ivByteCount))
        }
        guard let signature = encryption.integrityInformation?.rootSignature else { return (iv, nil) }
        let member = "\(path).integrityInformation.rootSignature"
        try Self.require("\(member).alg", signature.algorithm, "HS256")
        guard let mac = Self.bytes(signature.signature, count: Self.macByteCount) else {
            throw .manifest(path: "\(member).sig", .notBase64(byteCount: Self.macByteCount))
        }
        return (iv, mac)
    }

    /// Bytes of a payload: as long as a file of ext4 can be, and far from where sums of sizes overflow.
    public static let maxPayloadSize: Int64 = 1 << 44

    /// Whether so many bytes can be a payload: whole blocks, of which padding makes at least one.
    public static func checkPayload(size: Int64) throws(TDFError) {
        guard (1...maxPayloadSize).contains(size), size % 16 == 0 else { throw .payloadLength(size) }
    }

    private static func bytes(_ text: String, count: Int) -> [UInt8]? {
        guard text.utf8.count <= 64, let bytes = try? Base64.decode(text), bytes.count == count else { return nil }
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
