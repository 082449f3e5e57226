internal import COpenSSL

/// scrypt (RFC 7914): a key out of a passphrase, at a price in memory that guessing pays each time.
public enum Scrypt {
    /// - Parameters:
    ///   - logN: 10…20; memory is 128 · r · 2^logN bytes.
    ///   - r: 1…16.
    ///   - p: 1…4.
    ///   - count: 1…64 bytes.
    /// - Throws: `.invalidLength` for a parameter out of its bounds.
    public static func derive(
        passphrase: [UInt8], salt: [UInt8], logN: Int, r: Int, p: Int, count: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (10...20).contains(logN) else { throw .invalidLength(logN) }
        guard (1...16).contains(r), (1...4).contains(p) else { throw .invalidLength(r) }
        guard (1...64).contains(count) else { throw .invalidLength(count) }
        let memory = UInt64(128 * r) << UInt64(logN)
        return try [UInt8](capacity: count) { (output) throws(CryptoError) -> Int in
            let result = passphrase.withBytes { passphrase, passphraseCount in
                salt.withBytes { salt, saltCount in
                    // libcrypto reads bytes; the C type is char.
                    passphrase.withMemoryRebound(to: CChar.self, capacity: passphraseCount) {
                        EVP_PBE_scrypt(
                            $0, passphraseCount, salt, saltCount, 1 << UInt64(logN), UInt64(r), UInt64(p),
                            memory + (1 << 20), output, count)
                    }
                }
            }
            try Library.check(result, "EVP_PBE_scrypt")
            return count
        }
    }
}
