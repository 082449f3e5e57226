internal import COpenSSL

/// PBKDF2 (RFC 8018 §5.2): a key out of a passphrase, for formats that ask for it; `Scrypt` for our own.
public enum PBKDF2 {
    /// With HMAC-SHA-1, as WPA2 makes its key of a passphrase (IEEE 802.11 annex J.4: 4096 iterations, 32 bytes).
    ///
    /// - Parameters:
    ///   - passphrase: 1…1024 bytes.
    ///   - salt: at most 1024 bytes.
    ///   - iterations: 1…1 000 000.
    ///   - count: 1…64 bytes.
    /// - Throws: `.invalidLength` for a parameter out of its bounds.
    public static func sha1(
        passphrase: [UInt8], salt: [UInt8], iterations: Int, count: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (1...1024).contains(passphrase.count) else { throw .invalidLength(passphrase.count) }
        guard salt.count <= 1024 else { throw .invalidLength(salt.count) }
        guard (1...1_000_000).contains(iterations) else { throw .invalidLength(iterations) }
        guard (1...64).contains(count) else { throw .invalidLength(count) }
        return try [UInt8](capacity: count) { (output) throws(CryptoError) -> Int in
            let result = passphrase.withBytes { passphrase, passphraseCount in
                salt.withBytes { salt, saltCount in
                    // libcrypto reads bytes; the C type is char.
                    passphrase.withMemoryRebound(to: CChar.self, capacity: passphraseCount) {
                        PKCS5_PBKDF2_HMAC(
                            $0, CInt(passphraseCount), salt, CInt(saltCount), CInt(iterations), Algorithm.sha1,
                            CInt(count), output)
                    }
                }
            }
            try Library.check(result, "PKCS5_PBKDF2_HMAC")
            return count
        }
    }
}
