internal import COpenSSL

/// One `EVP_CIPHER_CTX` for AES-256-GCM with its key set. Freeing it wipes the key schedule.
package struct CipherContext: ~Copyable {
    private let context: OpaquePointer
    private var nonceByteCount = 12

    /// - Parameter key: 32 bytes.
    package init(key: Span<UInt8>, encrypts: Bool) throws(CryptoError) {
        guard key.count == 32 else { throw .invalidKey(.length(key.count)) }
        let made = try Library.unwrap(EVP_CIPHER_CTX_new(), "EVP_CIPHER_CTX_new")
        let keyed = key.withUnsafeBufferPointer {
            EVP_CipherInit_ex2(made, Algorithm.aes256GCM, $0.baseAddress, nil, encrypts ? 1 : 0, nil)
        }
        guard keyed == 1 else {
            EVP_CIPHER_CTX_free(made)
            throw Library.failure("EVP_CipherInit_ex2")
        }
        context = made
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Encrypts `count` bytes from `input` to `output`, which may be the same, and writes the 16-byte tag.
    package mutating func seal(
        _ input: UnsafePointer<UInt8>, count: Int, associatedData: ArraySlice<UInt8>? = nil,
        to output: UnsafeMutablePointer<UInt8>, tag: UnsafeMutablePointer<UInt8>,
        nonce: UnsafePointer<UInt8>, nonceByteCount: Int = 12
    ) throws(CryptoError) {
        guard count <= Int(CInt.max) else { throw .invalidLength(count) }
        try begin(nonce: nonce, nonceByteCount: nonceByteCount, associatedData: associatedData)
        var written: CInt = 0
        try Library.check(EVP_EncryptUpdate(context, output, &written, input, CInt(count)), "EVP_EncryptUpdate")
        try Library.check(EVP_EncryptFinal_ex(context, output + Int(written), &written), "EVP_EncryptFinal_ex")
        try Library.check(watchbox_gcm_get_tag(context, 16, tag), "EVP_CTRL_AEAD_GET_TAG")
    }

    /// - Returns: the plaintext, or nil when the tag does not verify.
    package mutating func open(
        _ ciphertext: ArraySlice<UInt8>, tag: ArraySlice<UInt8>, associatedData: ArraySlice<UInt8>? = nil,
        nonce: [UInt8]
    ) throws(CryptoError) -> [UInt8]? {
        guard ciphertext.count <= Int(CInt.max) else { throw .invalidLength(ciphertext.count) }
        guard (1...16).contains(tag.count) else { throw .invalidLength(tag.count) }
        try begin(nonce: nonce, associatedData: associatedData)
        let tagSet = tag.withBytes { watchbox_gcm_set_tag(context, CInt($1), $0) }
        try Library.check(tagSet, "EVP_CTRL_AEAD_SET_TAG")
        var authentic = false
        let plaintext = try [UInt8](capacity: ciphertext.count) { (output) throws(CryptoError) -> Int in
            var written: CInt = 0
            let updated = ciphertext.withBytes { EVP_DecryptUpdate(context, output, &written, $0, CInt($1)) }
            try Library.check(updated, "EVP_DecryptUpdate")
            authentic = EVP_DecryptFinal_ex(context, output + Int(written), &written) == 1
            if !authentic { OPENSSL_cleanse(output, ciphertext.count) }
            return authentic ? ciphertext.count : 0
        }
        guard authentic else {
            ERR_clear_error()
            return nil
        }
        return plaintext
    }

    private mutating func begin(nonce: [UInt8], associatedData: ArraySlice<UInt8>?) throws(CryptoError) {
        try nonce.withBytes { (pointer, count) throws(CryptoError) in
            try begin(nonce: pointer, nonceByteCount: count, associatedData: associatedData)
        }
    }

    /// The key stays; only the nonce, and its length if that differs, are set.
    private mutating func begin(
        nonce: UnsafePointer<UInt8>, nonceByteCount: Int, associatedData: ArraySlice<UInt8>?
    ) throws(CryptoError) {
        if nonceByteCount != self.nonceByteCount {
            guard (1...128).contains(nonceByteCount) else { throw .invalidLength(nonceByteCount) }
            try Library.check(
                watchbox_gcm_set_iv_length(context, CInt(nonceByteCount)), "EVP_CTRL_AEAD_SET_IVLEN")
            self.nonceByteCount = nonceByteCount
        }
        try Library.check(EVP_CipherInit_ex2(context, nil, nil, nonce, -1, nil), "EVP_CipherInit_ex2")
        guard let associatedData else { return }
        guard associatedData.count <= Int(CInt.max) else { throw .invalidLength(associatedData.count) }
        var written: CInt = 0
        let updated = associatedData.withBytes { EVP_CipherUpdate(context, nil, &written, $0, CInt($1)) }
        try Library.check(updated, "EVP_CipherUpdate")
    }
}

/// AES-256-GCM in one shot, for wrapped keys and policies. Items of a stream go through `NanoTDF.CollectionSealer`.
public enum AESGCM {
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 1…128 bytes; 12 unless a format says otherwise. Never twice under one key.
    /// - Returns: ciphertext and 16-byte tag.
    public static func seal(
        key: [UInt8], nonce: [UInt8], plaintext: [UInt8], aad: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        var context = try CipherContext(key: key.span, encrypts: true)
        return try [UInt8](capacity: plaintext.count + 16) { (output) throws(CryptoError) -> Int in
            try plaintext.withBytes { (input, count) throws(CryptoError) in
                try nonce.withBytes { (nonce, nonceCount) throws(CryptoError) in
                    try context.seal(
                        input, count: count, associatedData: aad[...], to: output, tag: output + count, nonce: nonce,
                        nonceByteCount: nonceCount)
                }
            }
            return plaintext.count + 16
        }
    }

    /// - Parameters:
    ///   - ciphertextAndTag: at least `tagLength` bytes.
    ///   - tagLength: 4…16; what is acceptable is the caller's decision.
    /// - Throws: `.authenticationFailed`.
    public static func open(
        key: [UInt8], nonce: [UInt8], ciphertextAndTag: [UInt8], tagLength: Int = 16, aad: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        guard (4...16).contains(tagLength), ciphertextAndTag.count >= tagLength else {
            throw .invalidLength(ciphertextAndTag.count)
        }
        var context = try CipherContext(key: key.span, encrypts: false)
        let split = ciphertextAndTag.count - tagLength
        guard
            let plaintext = try context.open(
                ciphertextAndTag[..<split], tag: ciphertextAndTag[split...], associatedData: aad[...], nonce: nonce)
        else { throw .authenticationFailed }
        return plaintext
    }
}
