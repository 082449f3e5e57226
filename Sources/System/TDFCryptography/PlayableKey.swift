internal import COpenSSL
internal import Cryptography
public import NanoTDF
internal import Synchronization
public import TDF

/// The 16-byte key of one archive of profile P: in contexts of libcrypto, which wipe it, and nowhere else.
public final class PlayableKey: Sendable {
    /// Of HKDF, for the signature of metadata: no other use of the key has the same one.
    private static let signatureInfo = "watchbox playable metadata"

    private struct Signatures: ~Copyable {
        let binding: RunningHMAC
        let metadata: RunningHMAC
    }

    /// For samples.
    public let cipher: SampleCipher
    private let signatures: Mutex<Signatures>

    /// Of an archive that is read.
    public static func opening(_ key: ContentKey) throws(TDFCryptoError) -> PlayableKey {
        do throws(CryptoError) {
            return try key.withBytes { (key) throws(CryptoError) in try PlayableKey(key: key) }
        } catch {
            throw TDFCryptoError(error)
        }
    }

    /// - Parameter key: 16 bytes. The caller's copy stays the caller's to wipe.
    init(key: Span<UInt8>) throws(CryptoError) {
        cipher = try SampleCipher(key: key)
        // In one piece: an array that grows leaves what it had before in memory.
        var copy = (0..<key.count).map { key[$0] }
        defer { OPENSSL_cleanse(&copy, copy.count) }
        var derived = try HKDF.sha256(ikm: copy, salt: [], info: Array(Self.signatureInfo.utf8), count: 32)
        defer { OPENSSL_cleanse(&derived, derived.count) }
        signatures = Mutex(
            Signatures(binding: try RunningHMAC(key: key), metadata: try RunningHMAC(key: derived.span)))
    }

    /// Draws a key, and wraps it.
    ///
    /// - Parameter publicKeyPEM: SubjectPublicKeyInfo of an RSA key of 2048 bits.
    /// - Returns: the key, RSA-OAEP with SHA-1 of it, and an IV for all of its samples.
    public static func draw(
        publicKeyPEM: String
    ) throws(TDFCryptoError) -> (key: PlayableKey, wrappedKey: [UInt8], iv: [UInt8]) {
        do throws(CryptoError) {
            guard case .rsa(let recipient) = try PublicKeyPEM.load(publicKeyPEM) else {
                throw .invalidKey(.unreadable)
            }
            // As of profile F: readers take a wrapped key of 256 bytes alone.
            guard recipient.bits == 2048 else { throw .invalidKey(.rsaSize(bits: recipient.bits)) }
            var bytes = try SecureRandom.bytes(ContentKey.byteCount)
            defer { OPENSSL_cleanse(&bytes, bytes.count) }
            return (
                try PlayableKey(key: bytes.span), try recipient.encryptOAEP(bytes, hash: .sha1),
                try SecureRandom.bytes(AES128CBC.blockByteCount)
            )
        } catch {
            guard case .invalidKey(.rsaSize(let bits)) = error else { throw TDFCryptoError(error) }
            throw .rsaSize(bits: bits)
        }
    }

    /// HMAC-SHA256 of the policy's base64 text.
    public func policyBinding(_ policy: String) throws(TDFCryptoError) -> [UInt8] {
        try value { (signatures) throws(CryptoError) in
            var hmac = try signatures.binding.copy()
            try hmac.update(Array(policy.utf8)[...])
            return try hmac.value()
        }
    }

    /// HMAC-SHA256 of the metadata's base64 text, under a key derived from this one.
    public func metadataSignature(_ metadata: String) throws(TDFCryptoError) -> [UInt8] {
        try value { (signatures) throws(CryptoError) in
            var hmac = try signatures.metadata.copy()
            try hmac.update(Array(metadata.utf8)[...])
            return try hmac.value()
        }
    }

    private func value(
        _ body: (borrowing Signatures) throws(CryptoError) -> [UInt8]
    ) throws(TDFCryptoError) -> [UInt8] {
        do throws(CryptoError) {
            return try signatures.withLock { (signatures) throws(CryptoError) in try body(signatures) }
        } catch {
            throw TDFCryptoError(error)
        }
    }
}
