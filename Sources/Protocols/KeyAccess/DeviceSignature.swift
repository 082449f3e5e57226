internal import Wire

/// The signature of a publisher's device over a registration: this header, for this stream, at this time.
///
/// The proof of a registration shows that its sender made the header, its token that he may publish the stream; both can
/// be in the hands of a thief who has the token. The device key is on the box alone. The statement holds nothing that a
/// viewer does not know or is not given, so that he verifies it himself.
///
/// The key that signs is the device's, or one for a single stream that the device's vouches for: a camera's process signs
/// for its own stream and for no other.
public struct DeviceSignature: Codable, Equatable, Sendable {
    public static let keyByteCount = 33
    public static let signatureByteCount = 64

    /// The device's voucher for a key that signs one stream.
    public struct Delegation: Codable, Equatable, Sendable {
        /// The device key: base64 of a compressed P-256 point.
        public var device: String
        /// Of `delegationStatement`, by the device key; base64 of r‖s.
        public var signature: String

        public init(device: [UInt8], signature: [UInt8]) {
            self.device = Base64.encode(device)
            self.signature = Base64.encode(signature)
        }
    }

    /// The key that signed: base64 of a compressed P-256 point.
    public var key: String
    /// Of `statement`; base64 of r‖s with the lower s.
    public var signature: String
    /// Nil when `key` is the device key.
    public var delegation: Delegation?

    public init(key: [UInt8], signature: [UInt8], delegation: Delegation? = nil) {
        self.key = Base64.encode(key)
        self.signature = Base64.encode(signature)
        self.delegation = delegation
    }

    /// What is signed for each header.
    ///
    /// - Parameters:
    ///   - headerHash: SHA-256 of the header, 32 bytes.
    ///   - issuedAt: of the registration, Unix milliseconds.
    public static func statement(headerHash: [UInt8], stream: String, issuedAt: Int64) -> [UInt8] {
        Array("watchbox-device-1".utf8) + [0] + headerHash + SignedText.bytes(stream)
            + SignedText.bytes(UInt64(bitPattern: issuedAt))
    }

    /// What the device key signs for a key of one stream.
    ///
    /// - Parameter key: compressed P-256 point, 33 bytes.
    public static func delegationStatement(key: [UInt8], stream: String) -> [UInt8] {
        Array("watchbox-device-delegation-1".utf8) + [0] + key + SignedText.bytes(stream)
    }

    /// A signature that holds.
    public struct Verified: Equatable, Sendable {
        /// The device key, compressed P-256 point.
        public var device: [UInt8]
        /// The signature in the one spelling that is kept.
        public var signature: DeviceSignature
    }

    /// - Parameter verifies: whether a signature (r‖s) is that of a message, by a compressed P-256 point.
    /// - Returns: nil when any part of it is not what it should be.
    public func verified(
        headerHash: [UInt8], stream: String, issuedAt: Int64,
        verifies: (_ signature: [UInt8], _ message: [UInt8], _ key: [UInt8]) -> Bool
    ) -> Verified? {
        guard let key = Self.decoded(key, Self.keyByteCount),
            let signature = Self.decoded(signature, Self.signatureByteCount)
        else { return nil }
        var device = key
        var vouched: Delegation?
        if let delegation {
            guard let holder = Self.decoded(delegation.device, Self.keyByteCount),
                let word = Self.decoded(delegation.signature, Self.signatureByteCount),
                verifies(word, Self.delegationStatement(key: key, stream: stream), holder)
            else { return nil }
            device = holder
            vouched = Delegation(device: holder, signature: word)
        }
        guard verifies(signature, Self.statement(headerHash: headerHash, stream: stream, issuedAt: issuedAt), key)
        else { return nil }
        return Verified(
            device: device, signature: DeviceSignature(key: key, signature: signature, delegation: vouched))
    }

    /// Longer texts are not even decoded.
    private static func decoded(_ text: String, _ count: Int) -> [UInt8]? {
        guard text.utf8.count <= (count + 2) / 3 * 4, let bytes = try? Base64.decode(text), bytes.count == count else {
            return nil
        }
        return bytes
    }
}

/// What a KAS keeps of a signed registration, and reports to viewers that ask.
public struct PublisherSignature: Codable, Equatable, Sendable {
    /// `issuedAt` of the registration, which the signature covers; Unix milliseconds.
    public var signedAt: Int64
    public var signature: DeviceSignature

    public init(signedAt: Int64, signature: DeviceSignature) {
        self.signedAt = signedAt
        self.signature = signature
    }
}

/// Texts and numbers in what is signed or proven: lengths stand before what has no length of its own.
enum SignedText {
    static func bytes(_ text: String) -> [UInt8] {
        let utf8 = Array(text.utf8)
        return bytes(UInt64(utf8.count)) + utf8
    }

    static func bytes(_ value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) }
    }
}
