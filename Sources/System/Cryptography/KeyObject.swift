internal import COpenSSL

/// Owns one `EVP_PKEY`. Freeing a private key wipes it.
///
/// `@unchecked Sendable`: the key is never changed after it was made, and libcrypto counts references atomically.
final class KeyObject: @unchecked Sendable {
    let pointer: OpaquePointer

    init(takingOwnershipOf pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(pointer) }

    /// Reads the first PEM block of its kind. Encrypted keys are unreadable: there is no prompt for a passphrase.
    convenience init(pem: String, isPrivate: Bool) throws(CryptoError) {
        var text = Array(pem.utf8)
        defer { if isPrivate { OPENSSL_cleanse(&text, text.count) } }
        try self.init(pem: text, isPrivate: isPrivate)
    }

    /// The same from bytes, which the caller can wipe.
    init(pem text: [UInt8], isPrivate: Bool) throws(CryptoError) {
        guard text.count <= 65_536 else { throw .invalidKey(.unreadable) }
        let found = text.withBytes { (bytes, count) -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(bytes, CInt(count)) else { return nil }
            defer { BIO_free(bio) }
            return isPrivate
                ? PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
                : PEM_read_bio_PUBKEY(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let found else {
            ERR_clear_error()
            throw .invalidKey(.unreadable)
        }
        pointer = found
    }

    /// Generates a key of a named kind; `configure` sets its parameters.
    convenience init(
        generating kind: String, _ configure: (OpaquePointer) -> CInt
    ) throws(CryptoError) {
        try self.init(
            generatingWith: try Library.unwrap(
                EVP_PKEY_CTX_new_from_name(nil, kind, nil), "EVP_PKEY_CTX_new_from_name"),
            configure)
    }

    /// Generates with a context, which it frees.
    convenience init(
        generatingWith context: OpaquePointer, _ configure: (OpaquePointer) -> CInt
    ) throws(CryptoError) {
        defer { EVP_PKEY_CTX_free(context) }
        try Library.check(EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
        try Library.check(configure(context), "EVP_PKEY_CTX_set")
        var key: OpaquePointer?
        try Library.check(EVP_PKEY_generate(context, &key), "EVP_PKEY_generate")
        self.init(takingOwnershipOf: try Library.unwrap(key, "EVP_PKEY_generate"))
    }

    /// Makes a public key from its parameters.
    convenience init(
        publicKeyOf kind: String, _ parameters: UnsafeMutablePointer<OSSL_PARAM>, fault: CryptoError.KeyFault
    ) throws(CryptoError) {
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_name(nil, kind, nil), "EVP_PKEY_CTX_new_from_name")
        defer { EVP_PKEY_CTX_free(context) }
        try Library.check(EVP_PKEY_fromdata_init(context), "EVP_PKEY_fromdata_init")
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata(context, &key, watchbox_selection_public_key(), parameters) == 1, let key else {
            ERR_clear_error()
            throw .invalidKey(fault)
        }
        self.init(takingOwnershipOf: key)
    }

    /// Whether libcrypto names the key's kind so: "EC", "RSA", "ED25519".
    func isA(_ kind: String) -> Bool { EVP_PKEY_is_a(pointer, kind) == 1 }

    var bits: Int { Int(EVP_PKEY_get_bits(pointer)) }

    /// The public half as SubjectPublicKeyInfo PEM.
    func publicPEM() throws(CryptoError) -> String {
        try Self.text { bio in PEM_write_bio_PUBKEY(bio, pointer) }
    }

    /// The private key as unencrypted PKCS #8 PEM. Wipe it after use.
    func privatePEM() throws(CryptoError) -> [UInt8] {
        try Self.written { bio in PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil) }
    }

    /// A big number of the key, on the left padded to `count` bytes; minimal length without `count`.
    func number(_ name: UnsafePointer<CChar>, count: Int? = nil) throws(CryptoError) -> [UInt8] {
        var number: OpaquePointer?
        try Library.check(EVP_PKEY_get_bn_param(pointer, name, &number), "EVP_PKEY_get_bn_param")
        defer { BN_clear_free(number) }
        let size = count ?? Int((BN_num_bits(number) + 7) / 8)
        return try [UInt8](capacity: size) { (output) throws(CryptoError) -> Int in
            guard BN_bn2binpad(number, output, CInt(size)) == CInt(size) else {
                throw Library.failure("BN_bn2binpad")
            }
            return size
        }
    }

    /// A signature over `message`; DER for EC keys, PKCS #1 v1.5 for RSA.
    func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = try Library.unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        defer { EVP_MD_CTX_free(context) }
        try Library.check(
            EVP_DigestSignInit(context, nil, Algorithm.sha256, nil, pointer), "EVP_DigestSignInit")
        var size = Int(EVP_PKEY_get_size(pointer))
        return try [UInt8](capacity: size) { (output) throws(CryptoError) -> Int in
            let result = message.withBytes { EVP_DigestSign(context, output, &size, $0, $1) }
            try Library.check(result, "EVP_DigestSign")
            return size
        }
    }

    /// - Parameter digest: SHA-256, or nil for a scheme that brings its own (Ed25519).
    func verifies(_ signature: [UInt8], _ message: ArraySlice<UInt8>, digest: OpaquePointer?) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, pointer) == 1 else { return false }
        return signature.withBytes { signature, signatureCount in
            message.withBytes { EVP_DigestVerify(context, signature, signatureCount, $0, $1) == 1 }
        }
    }

    private static func text(_ write: (OpaquePointer) -> CInt) throws(CryptoError) -> String {
        String(decoding: try written(write), as: UTF8.self)
    }

    private static func written(_ write: (OpaquePointer) -> CInt) throws(CryptoError) -> [UInt8] {
        // The secure kind wipes its memory when freed.
        let bio = try Library.unwrap(BIO_new(BIO_s_secmem()), "BIO_new")
        defer { BIO_free(bio) }
        try Library.check(write(bio), "PEM_write_bio")
        var start: UnsafeMutablePointer<CChar>?
        let count = watchbox_BIO_get_mem_data(bio, &start)
        guard let start, count > 0 else { throw Library.failure("BIO_get_mem_data") }
        return start.withMemoryRebound(to: UInt8.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
