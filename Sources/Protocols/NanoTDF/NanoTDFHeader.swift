/// The header of a NanoTDF or of a collection: which KAS has the key, for whom, and the ephemeral key that it is
/// agreed with (spec §3.3.1; docs/ref/wire-format.md, "The header", says which spec, and what ntdf-1 writes).
public struct NanoTDFHeader: Equatable, Sendable {
    public enum Version: UInt8, Sendable {
        /// "L1L", version 12: the spec's, and what ntdf-1 writes.
        case l1l = 0x4C
        /// "L1M", written by Arkavo's collections: adds the KAS public key. Read only.
        case l1m = 0x4D
    }

    /// The KAS key that an L1M header repeats.
    public struct KASPublicKey: Equatable, Sendable {
        public let curve: EllipticCurve
        /// Compressed SEC1 point.
        public let point: [UInt8]
    }

    /// Payload signature and cipher (spec §3.3.1.4).
    public struct PayloadConfiguration: Equatable, Sendable {
        /// Whether a signature follows the payload of a single NanoTDF. Not defined for collections.
        public var isSigned: Bool
        /// Curve of that signature, as three raw bits: the spec's own example holds one without a signature.
        public var signatureCurveBits: UInt8
        /// 0…5; all are AES-256-GCM and differ in the tag.
        public var cipher: UInt8

        /// AES-256-GCM with a 16-byte tag, unsigned: what ntdf-1 writes.
        public static var ntdf1: Self { Self(isSigned: false, signatureCurveBits: 0, cipher: 5) }

        /// 8, 12, 13, 14, 15 or 16.
        public var tagByteCount: Int { Self.tagByteCounts[Int(cipher)] }

        static let tagByteCounts = [8, 12, 13, 14, 15, 16]

        init(isSigned: Bool, signatureCurveBits: UInt8, cipher: UInt8) {
            self.isSigned = isSigned
            self.signatureCurveBits = signatureCurveBits
            self.cipher = cipher
        }
    }

    public let version: Version
    public let locator: ResourceLocator
    /// In L1M headers only.
    public let kasPublicKey: KASPublicKey?
    /// Curve of the KAS key and of the ephemeral key.
    public let curve: EllipticCurve
    /// Whether `binding` is an ECDSA signature by the ephemeral key; else it is 8 bytes.
    public let usesECDSABinding: Bool
    public let payload: PayloadConfiguration
    public let policy: Policy
    /// As on the wire; see ``PolicyBinding``.
    public let binding: [UInt8]
    /// Compressed SEC1 point. Its form is checked here, that it lies on the curve where it is used.
    public let ephemeralPublicKey: [UInt8]

    /// Bytes of the tag of each item.
    public var tagByteCount: Int { payload.tagByteCount }

    /// The header of profile ntdf-1.
    /// - Parameter binding: 8 bytes.
    init(locator: ResourceLocator, policy: [UInt8], binding: [UInt8], curve: EllipticCurve, ephemeralPublicKey: [UInt8])
    {
        version = .l1l
        self.locator = locator
        kasPublicKey = nil
        self.curve = curve
        usesECDSABinding = false
        payload = .ntdf1
        self.policy = .plaintext(policy)
        self.binding = binding
        self.ephemeralPublicKey = ephemeralPublicKey
    }

    /// The bytes of the header; equal to those that it was parsed from.
    /// - Throws: `.tooLarge(.policy, …)` and `.invalid(.policyLength, …)`; a parsed header never throws.
    public func encoded() throws(NanoTDFError) -> [UInt8] {
        var output: [UInt8] = [0x4C, 0x31, version.rawValue]
        locator.append(to: &output)
        if let kasPublicKey {
            output.append(kasPublicKey.curve.rawValue)
            output += kasPublicKey.point
        }
        output.append((usesECDSABinding ? 0x80 : 0) | curve.rawValue)
        output.append((payload.isSigned ? 0x80 : 0) | payload.signatureCurveBits << 4 | payload.cipher)
        try policy.append(to: &output)
        output += binding
        output += ephemeralPublicKey
        return output
    }
}

/// What a header parser accepts at most.
public struct HeaderLimits: Sendable {
    /// Bytes of the policy body.
    public var policy: Int
    /// Bytes of the whole header.
    public var header: Int

    /// 16 KiB of policy, 64 KiB of header.
    public init(policy: Int = 16_384, header: Int = 65_536) {
        self.policy = policy
        self.header = header
    }
}
