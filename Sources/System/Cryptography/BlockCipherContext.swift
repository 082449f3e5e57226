internal import COpenSSL

/// AES-128-CBC in a context of libcrypto: over what comes piece by piece, with PKCS #7 padding, or over chains of whole blocks without any. Freeing
/// it wipes the key schedule. It authenticates nothing: whoever decrypts verifies a MAC first.
package struct BlockCipherContext: ~Copyable {
    package static let blockSize = AES128CBC.blockByteCount

    private let context: OpaquePointer

    /// For ``update(_:)`` and ``finish()``.
    ///
    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - iv: 16 bytes.
    package init(key: Span<UInt8>, iv: [UInt8], encrypts: Bool) throws(CryptoError) {
        guard iv.count == Self.blockSize else { throw .invalidLength(iv.count) }
        try self.init(key, iv, encrypts: encrypts, isPadded: true)
    }

    /// For ``chain(_:iv:)``.
    ///
    /// - Parameter key: 16 bytes.
    init(key: Span<UInt8>, encrypts: Bool) throws(CryptoError) {
        try self.init(key, nil, encrypts: encrypts, isPadded: false)
    }

    private init(_ key: Span<UInt8>, _ iv: [UInt8]?, encrypts: Bool, isPadded: Bool) throws(CryptoError) {
        guard key.count == AES128CBC.keyByteCount else { throw .invalidKey(.length(key.count)) }
        let made = try Library.unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let keyed = key.withUnsafeBufferPointer { key in
            guard let iv else {
                return EVP_CipherInit_ex2(made, Algorithm.aes128CBC, key.baseAddress, nil, encrypts ? 1 : 0, nil)
            }
            return iv.withBytes { iv, _ in
                EVP_CipherInit_ex2(made, Algorithm.aes128CBC, key.baseAddress, iv, encrypts ? 1 : 0, nil)
            }
        }
        guard keyed == 1, EVP_CIPHER_CTX_set_padding(made, isPadded ? 1 : 0) == 1 else {
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

    /// Replaces whole blocks, of a chain of their own.
    ///
    /// - Parameter iv: 16 bytes.
    mutating func chain(_ blocks: inout [UInt8], iv: [UInt8]) throws(CryptoError) {
        guard iv.count == Self.blockSize else { throw .invalidLength(iv.count) }
        guard blocks.count % Self.blockSize == 0, blocks.count <= Int(CInt.max) else {
            throw .invalidLength(blocks.count)
        }
        guard !blocks.isEmpty else { return }
        // The key and the direction stay; only the IV is set.
        let begun = iv.withUnsafeBufferPointer { EVP_CipherInit_ex2(context, nil, nil, $0.baseAddress, -1, nil) }
        try Library.check(begun, "EVP_CipherInit_ex2")
        var written: CInt = 0
        let count = CInt(blocks.count)
        let updated = blocks.withUnsafeMutableBufferPointer {
            EVP_CipherUpdate(context, $0.baseAddress, &written, $0.baseAddress, count)
        }
        try Library.check(updated, "EVP_CipherUpdate")
        guard written == count else { throw Library.failure("EVP_CipherUpdate") }
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
