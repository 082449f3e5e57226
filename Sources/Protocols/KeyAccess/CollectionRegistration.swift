/// Body of `POST /watchbox/v1/collections` (scope `kas.publish`): the publisher vouches for one NanoTDF header, and proves
/// that it made it (docs/ref/wire-format.md, "A registration").
///
/// The proof is an HMAC under a key that follows from the DEK, which the KAS derives from the header anyway. So a header
/// that was taken from a relay cannot be registered by anyone else; and the KAS learns which of its keys the header is for.
public struct CollectionRegistration: Codable, Equatable, Sendable {
    public static let path = "/watchbox/v1/collections"

    /// How far `issuedAt` may be from the KAS's clock, in milliseconds. A refusal for that reason states the KAS's time.
    public static let tolerance: Int64 = 300_000
    /// HTTP header of every answer of the registration: the KAS's time, Unix milliseconds. For cameras without a clock.
    public static let timeHeader = "WatchBox-Time"

    /// The name under which the header's items are published; the header's policy names it too.
    public var stream: String
    /// The header, base64.
    public var header: String
    /// Seconds after which the service may forget the header.
    public var lifetime: Int64
    /// When the publisher asks, Unix milliseconds: a registration that was overheard is worth nothing later.
    public var issuedAt: Int64
    /// HMAC-SHA256 of `proofInput`, base64.
    public var proof: String
    /// Of the publisher's device, when it has a key to sign with.
    public var signature: DeviceSignature?

    public init(
        stream: String, header: String, lifetime: Int64, issuedAt: Int64, proof: String,
        signature: DeviceSignature? = nil
    ) {
        self.signature = signature
        self.stream = stream
        self.header = header
        self.lifetime = lifetime
        self.issuedAt = issuedAt
        self.proof = proof
    }

    /// What the proof covers: header, stream, times, and who asks. Lengths stand before what has no length of its own.
    ///
    /// - Parameters:
    ///   - headerHash: SHA-256 of the header, 32 bytes.
    ///   - issuer: `iss` of the access token that the registration is sent with.
    ///   - subject: its `sub`.
    public static func proofInput(
        headerHash: [UInt8], stream: String, lifetime: Int64, issuedAt: Int64, issuer: String, subject: String
    ) -> [UInt8] {
        var input = Array("watchbox-register-1".utf8) + [0] + headerHash
        for text in [stream, issuer, subject] { input += SignedText.bytes(text) }
        return input + SignedText.bytes(UInt64(bitPattern: lifetime)) + SignedText.bytes(UInt64(bitPattern: issuedAt))
    }
}

/// What the service keeps of a registration, and reports to the publisher and a viewer that asks (`GET …/collections/HASH`).
public struct CollectionReceipt: Codable, Equatable, Sendable {
    public var stream: String
    /// SHA-256 of the header, lower-case hexadecimal.
    public var headerSha256: String
    /// Unix seconds.
    public var registeredAt: Int64
    /// Unix seconds after which the service forgets the header.
    public var notAfter: Int64
    /// Nil when no device key of the publisher is registered, or none was when it registered the header.
    public var publisher: PublisherSignature?

    public init(
        stream: String, headerSha256: String, registeredAt: Int64, notAfter: Int64,
        publisher: PublisherSignature? = nil
    ) {
        self.publisher = publisher
        self.stream = stream
        self.headerSha256 = headerSha256
        self.registeredAt = registeredAt
        self.notAfter = notAfter
    }
}
