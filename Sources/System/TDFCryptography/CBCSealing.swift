internal import COpenSSL
internal import Cryptography
internal import NanoTDF
public import TDF

/// The key of one archive of profile F while it is written: in the two contexts of libcrypto, which wipe it, and nowhere else.
public struct CBCSealing: ~Copyable {
    /// RSA-OAEP with SHA-1, 256 bytes: readers take no others.
    public let wrappedKey: [UInt8]
    /// HMAC-SHA256 of the policy under the key, 32 bytes.
    public let policyBinding: [UInt8]
    /// 16 bytes.
    public let iv: [UInt8]

    private var cipher: BlockCipherContext
    private var mac: RunningHMAC

    private init(
        wrappedKey: [UInt8], policyBinding: [UInt8], iv: [UInt8], cipher: consuming BlockCipherContext,
        mac: consuming RunningHMAC
    ) {
        self.wrappedKey = wrappedKey
        self.policyBinding = policyBinding
        self.iv = iv
        self.cipher = cipher
        self.mac = mac
    }

    /// Draws the key of the archive.
    ///
    /// - Parameters:
    ///   - publicKeyPEM: SubjectPublicKeyInfo of an RSA key of 2048 bits.
    ///   - policy: the base64 text that the manifest will hold.
    public static func begin(publicKeyPEM: String, policy: ArraySlice<UInt8>) throws(TDFCryptoError) -> CBCSealing {
        do throws(CryptoError) {
            guard case .rsa(let recipient) = try PublicKeyPEM.load(publicKeyPEM) else {
                throw .invalidKey(.unreadable)
            }
            guard recipient.bits == 2048 else { throw .invalidKey(.rsaSize(bits: recipient.bits)) }
            var key = try SecureRandom.bytes(ContentKey.byteCount)
            defer { OPENSSL_cleanse(&key, key.count) }
            let iv = try SecureRandom.bytes(BlockCipherContext.blockSize)
            var binding = try RunningHMAC(key: key.span)
            try binding.update(policy)
            return CBCSealing(
                wrappedKey: try recipient.encryptOAEP(key, hash: .sha1), policyBinding: try binding.value(), iv: iv,
                cipher: try BlockCipherContext(key: key.span, iv: iv, encrypts: true),
                mac: try CBCAuthentication.context(key, iv: iv))
        } catch {
            guard case .invalidKey(.rsaSize(let bits)) = error else { throw TDFCryptoError(error) }
            throw .rsaSize(bits: bits)
        }
    }

    /// - Returns: ciphertext.
    public mutating func update(_ plaintext: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8] {
        do throws(CryptoError) {
            let ciphertext = try cipher.update(plaintext)
            try mac.update(ciphertext[...])
            return ciphertext
        } catch {
            throw TDFCryptoError(error)
        }
    }

    /// - Returns: the last ciphertext, and the MAC of all of it, 32 bytes.
    public consuming func finish() throws(TDFCryptoError) -> (ciphertext: [UInt8], mac: [UInt8]) {
        var mac = mac
        do throws(CryptoError) {
            guard let rest = try cipher.finish() else { throw .libraryFailed(call: "EVP_CipherFinal_ex") }
            try mac.update(rest[...])
            return (rest, try mac.value())
        } catch {
            throw TDFCryptoError(error)
        }
    }
}

/// The MAC of a payload of profile F.
enum CBCAuthentication {
    /// HMAC-SHA256 under a key of its own: HKDF-SHA256 of the archive's key, with the IV as salt, so that the MAC is about that as well.
    static func context(_ key: [UInt8], iv: [UInt8]) throws(CryptoError) -> RunningHMAC {
        var derived = try HKDF.sha256(ikm: key, salt: iv, info: Array("watchbox profile F MAC".utf8), count: 32)
        defer { OPENSSL_cleanse(&derived, derived.count) }
        return try RunningHMAC(key: derived.span)
    }
}
