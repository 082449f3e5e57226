internal import COpenSSL

/// The hash of RSA-OAEP, also of its mask; the label is empty.
public enum OAEPHash: Sendable {
    /// What TDF3 clients and servers use (docs/ref/wire-format.md, "TDF3").
    case sha1
    /// What OpenTDFKit's own archives have, which nothing here opens.
    case sha256
}

/// An RSA public key of 2048 to 4096 bits.
public final class RSAPublicKey: Sendable {
    /// Bits that are accepted: less is weak, more costs a server too much.
    public static let acceptedBits = 2048...4096

    let key: KeyObject

    /// From SubjectPublicKeyInfo PEM.
    public convenience init(pem: String) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: false))
    }

    /// From the numbers of a JWK, big-endian.
    public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        guard modulus.count <= 1024, exponent.count <= 8 else { throw .invalidKey(.length(modulus.count)) }
        let n = BN_bin2bn(modulus, CInt(modulus.count), nil)
        let e = BN_bin2bn(exponent, CInt(exponent.count), nil)
        let builder = OSSL_PARAM_BLD_new()
        defer {
            BN_free(n)
            BN_free(e)
            OSSL_PARAM_BLD_free(builder)
        }
        try Library.check(OSSL_PARAM_BLD_push_BN(builder, watchbox_param_rsa_n(), n), "OSSL_PARAM_BLD_push_BN")
        try Library.check(OSSL_PARAM_BLD_push_BN(builder, watchbox_param_rsa_e(), e), "OSSL_PARAM_BLD_push_BN")
        guard let parameters = OSSL_PARAM_BLD_to_param(builder) else {
            throw Library.failure("OSSL_PARAM_BLD_to_param")
        }
        defer { OSSL_PARAM_free(parameters) }
        try self.init(try KeyObject(publicKeyOf: "RSA", parameters, fault: .unreadable))
    }

    init(_ key: KeyObject) throws(CryptoError) {
        guard key.isA("RSA") else { throw .invalidKey(.unreadable) }
        guard Self.acceptedBits.contains(key.bits) else { throw .invalidKey(.rsaSize(bits: key.bits)) }
        // libcrypto reads a key without a look at its numbers, and encrypts under an exponent of 1: to what the padding alone hides,
        // which anybody undoes. Longer ones than 64 bits it refuses when it is to encrypt.
        let (modulus, exponent) = (
            try key.number(watchbox_param_rsa_n()), try key.number(watchbox_param_rsa_e())
        )
        guard modulus.last.map({ $0 & 1 }) == 1, exponent.last.map({ $0 & 1 }) == 1, exponent != [1],
            exponent.count <= 8
        else { throw .invalidKey(.rsaNumbers) }
        self.key = key
    }

    public var bits: Int { key.bits }

    public func spkiPEM() throws(CryptoError) -> String { try key.publicPEM() }

    /// SubjectPublicKeyInfo in DER.
    public func spki() throws(CryptoError) -> [UInt8] { try PublicKeyPEM.body(of: Array(try spkiPEM().utf8)) }

    /// Big-endian, without leading zero bytes.
    public func modulus() throws(CryptoError) -> [UInt8] { try key.number(watchbox_param_rsa_n()) }

    /// Big-endian, without leading zero bytes.
    public func exponent() throws(CryptoError) -> [UInt8] { try key.number(watchbox_param_rsa_e()) }

    /// - Returns: as many bytes as the modulus has.
    public func encryptOAEP(_ plaintext: [UInt8], hash: OAEPHash = .sha1) throws(CryptoError) -> [UInt8] {
        try OAEP.run(key, hash, plaintext, EVP_PKEY_encrypt_init, EVP_PKEY_encrypt)
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256.
    public func verifyRS256(_ signature: [UInt8], message: [UInt8]) -> Bool {
        key.verifies(signature, message[...], digest: Algorithm.sha256)
    }
}

/// An RSA private key of 2048 to 4096 bits. No description; wiped by libcrypto when the last reference ends.
public final class RSAPrivateKey: Sendable {
    public let publicKey: RSAPublicKey
    private let key: KeyObject

    private init(_ key: KeyObject) throws(CryptoError) {
        guard key.isA("RSA") else { throw .invalidKey(.unreadable) }
        self.key = key
        publicKey = try RSAPublicKey(
            modulus: try key.number(watchbox_param_rsa_n()), exponent: try key.number(watchbox_param_rsa_e()))
    }

    /// - Parameter bits: 2048…4096.
    public static func generate(bits: Int) throws(CryptoError) -> RSAPrivateKey {
        guard RSAPublicKey.acceptedBits.contains(bits) else { throw .invalidKey(.rsaSize(bits: bits)) }
        return try RSAPrivateKey(try KeyObject(generating: "RSA") { EVP_PKEY_CTX_set_rsa_keygen_bits($0, CInt(bits)) })
    }

    /// PKCS #8 or PKCS #1 PEM, not encrypted.
    public convenience init(pem: String) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: true))
    }

    /// The same from bytes, which the caller can wipe.
    public convenience init(pem: [UInt8]) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: true))
    }

    /// - Throws: `.authenticationFailed` for a ciphertext of another length than the modulus, and for every padding
    ///   that doesn't verify: one error for all, as RFC 8017 §7.1.2 demands.
    public func decryptOAEP(_ ciphertext: [UInt8], hash: OAEPHash = .sha1) throws(CryptoError) -> [UInt8] {
        guard ciphertext.count == Int(EVP_PKEY_get_size(key.pointer)) else { throw .authenticationFailed }
        do {
            return try OAEP.run(key, hash, ciphertext, EVP_PKEY_decrypt_init, EVP_PKEY_decrypt)
        } catch {
            throw .authenticationFailed
        }
    }

    /// RSASSA-PKCS1-v1_5 with SHA-256.
    public func signRS256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] { try key.sign(message) }

    /// Unencrypted PKCS #8. For key files of mode 0600 only; a key that serves is written from `privateKeyPEMBytes`.
    public func privateKeyPEM() throws(CryptoError) -> String { String(decoding: try key.privatePEM(), as: UTF8.self) }

    /// The same as bytes: wipe them after use.
    public func privateKeyPEMBytes() throws(CryptoError) -> [UInt8] { try key.privatePEM() }
}

private enum OAEP {
    typealias Start = (OpaquePointer?) -> CInt
    typealias Operation = (
        OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int
    ) -> CInt

    static func run(
        _ key: KeyObject, _ hash: OAEPHash, _ input: [UInt8], _ start: Start, _ operation: Operation
    ) throws(CryptoError) -> [UInt8] {
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        let digest =
            switch hash {
            case .sha1: Algorithm.sha1
            case .sha256: Algorithm.sha256
            }
        try Library.check(start(context), "RSA-OAEP init")
        try Library.check(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING), "RSA-OAEP padding")
        try Library.check(EVP_PKEY_CTX_set_rsa_oaep_md(context, digest), "RSA-OAEP hash")
        try Library.check(EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest), "RSA-OAEP mask")
        var size = Int(EVP_PKEY_get_size(key.pointer))
        return try [UInt8](capacity: size) { (output) throws(CryptoError) -> Int in
            let result = input.withBytes { operation(context, output, &size, $0, $1) }
            try Library.check(result, "RSA-OAEP")
            return size
        }
    }
}
