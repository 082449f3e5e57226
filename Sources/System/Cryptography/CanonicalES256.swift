internal import COpenSSL
internal import Wire

/// ECDSA-SHA256 on P-256 in the only spelling that is accepted: r‖s, 64 bytes, with s in the lower half of its range. Of
/// every other signature of its kind a second one can be made without the key, by negating s.
public enum CanonicalES256 {
    public static let signatureByteCount = 64

    /// The order of the group (FIPS 186-5, P-256), and its half.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    private static let half: [UInt8] = [
        0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xDE, 0x73, 0x7D, 0x56, 0xD3, 0x8B, 0xCF, 0x42, 0x79, 0xDC, 0xE5, 0x61, 0x7E, 0x31, 0x92, 0xA8,
    ]

    /// - Parameter key: on P-256.
    public static func sign(_ message: [UInt8], with key: ECPrivateKey) throws(CryptoError) -> [UInt8] {
        guard key.curve == .p256 else { throw .invalidKey(.unsupportedCurve) }
        let signature = try key.signES256(message)
        let s = Array(signature[32...])
        return isLower(s) ? signature : Array(signature[..<32]) + negated(s)
    }

    /// - Parameter key: compressed point on P-256, 33 bytes; anything else verifies nothing.
    public static func verifies(_ signature: [UInt8], of message: [UInt8], by key: [UInt8]) -> Bool {
        guard signature.count == signatureByteCount, isLower(Array(signature[32...])), key.count == 33,
            let key = try? ECPublicKey(sec1: key, curve: .p256)
        else { return false }
        return key.verifyES256(signature, message: message)
    }

    /// The other signature that a reader of usual strictness would accept; for tests.
    package static func negated(signature: [UInt8]) -> [UInt8] {
        Array(signature[..<32]) + negated(Array(signature[32...]))
    }

    private static func isLower(_ s: [UInt8]) -> Bool {
        !half.lexicographicallyPrecedes(s)
    }

    /// order − s.
    private static func negated(_ s: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: s.count)
        var borrow = 0
        for index in s.indices.reversed() {
            let difference = Int(order[index]) - Int(s[index]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[index] = UInt8(truncatingIfNeeded: difference)
        }
        return result
    }
}

extension ECPublicKey {
    /// `sha256//` and the Base64 of the SHA-256 of its SubjectPublicKeyInfo, as a pin is written. P-256 only.
    public var fingerprint: String {
        "sha256//" + Base64.encode(Digest.sha256(SubjectPublicKeyInfo.der(p256Point: uncompressed())))
    }
}
