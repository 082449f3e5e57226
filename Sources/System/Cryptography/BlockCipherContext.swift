internal import COpenSSL

/// AES-128-CBC with PKCS #7 padding over what comes piece by piece. Freeing it wipes the key schedule. It authenticates nothing: whoever decrypts
/// verifies a MAC first.
package struct BlockCipherContext: ~Copyable {
    package static let blockSize = 16

    private let context: OpaquePointer

    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - iv: 16 bytes.
    package init(key: Span<UInt8>, iv: [UInt8], encrypts: Bool) throws(CryptoError) {
        guard key.count == 16 else { throw .invalidKey(.length(key.count)) }
        guard iv.count == Self.blockSize else { throw .invalidLength(iv.count) }
        let made = try Library.unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let keyed = key.withUnsafeBufferPointer { key in
            iv.withBytes { iv, _ in
                EVP_CipherInit_ex2(made, Algorithm.aes128CBC, key.baseAddress, iv, encrypts ? 1 : 0, nil)
            }
        }
        guard keyed == 1 else {
            EVP_CIPHER_CTX_free(made)
            throw Library.failure("EVP_CipherInit_ex2")
        }
        context = made
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// - Returns: what can be said so far: whole blocks, of which decryption keeps the last one back.
    package mutating func update(_ input: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        guard input.count <= Int(CInt.max) - Self.blockSize else { throw .invalidLength(input.count) }
        return try [UInt8](capacity: input.count + Self.blockSize) { (output) throws(CryptoError) -> Int in
            var written: CInt = 0
            let updated = input.withBytes { EVP_CipherUpdate(context, output, &written, $0, CInt($1)) }
            try Library.check(updated, "EVP_CipherUpdate")
            return Int(written)
        }
    }

    /// The last block.
    ///
    /// - Returns: nil: the padding is none.
    package consuming func finish() throws(CryptoError) -> [UInt8]? {
        var isPadded = false
        let rest = [UInt8](capacity: Self.blockSize) { output in
            var written: CInt = 0
            isPadded = EVP_CipherFinal_ex(context, output, &written) == 1
            return isPadded ? Int(written) : 0
        }
        guard isPadded else {
            ERR_clear_error()
            return nil
        }
        return rest
    }
}
