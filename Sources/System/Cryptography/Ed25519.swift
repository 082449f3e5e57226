internal import COpenSSL

/// An Ed25519 public key (RFC 8032); for tokens and, later, signed updates.
public final class Ed25519PublicKey: Sendable {
    private let key: KeyObject
    /// 32 bytes.
    public let rawBytes: [UInt8]

    /// - Parameter raw: 32 bytes.
    public init(raw: [UInt8]) throws(CryptoError) {
        guard raw.count == 32 else { throw .invalidKey(.length(raw.count)) }
        guard let pointer = EVP_PKEY_new_raw_public_key_ex(nil, "ED25519", nil, raw, raw.count) else {
            ERR_clear_error()
            throw .invalidKey(.unreadable)
        }
        key = KeyObject(takingOwnershipOf: pointer)
        rawBytes = raw
    }

    /// From SubjectPublicKeyInfo PEM.
    public convenience init(pem: String) throws(CryptoError) {
        let key = try KeyObject(pem: pem, isPrivate: false)
        guard key.isA("ED25519") else { throw .invalidKey(.unreadable) }
        try self.init(
            raw: try [UInt8](capacity: 32) { (output) throws(CryptoError) -> Int in
                var count = 32
                try Library.check(
                    EVP_PKEY_get_raw_public_key(key.pointer, output, &count), "EVP_PKEY_get_raw_public_key")
                return count
            })
    }

    public func verify(_ signature: [UInt8], message: [UInt8]) -> Bool {
        key.verifies(signature, message[...], digest: nil)
    }
}
