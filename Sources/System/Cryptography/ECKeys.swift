internal import COpenSSL

/// The curves that keys can be made and read on.
public enum ECCurve: String, CaseIterable, Sendable {
    case p256 = "prime256v1"
    case p384 = "secp384r1"
    case p521 = "secp521r1"

    /// Bytes of a coordinate.
    public var coordinateByteCount: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    init(of key: KeyObject) throws(CryptoError) {
        var name = [CChar](repeating: 0, count: 64)
        var count = 0
        guard EVP_PKEY_get_group_name(key.pointer, &name, name.count, &count) == 1 else {
            ERR_clear_error()
            throw .invalidKey(.unsupportedCurve)
        }
        let text = String(decoding: name.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let curve = ECCurve(rawValue: text) else { throw .invalidKey(.unsupportedCurve) }
        self = curve
    }
}

/// A point of a NIST curve. It is on the curve and isn't the point at infinity: the initializers check.
public final class ECPublicKey: Sendable {
    public let curve: ECCurve
    let key: KeyObject
    private let point: [UInt8]

    /// - Parameter sec1: compressed or uncompressed; hybrid encodings and infinity are refused.
    public init(sec1: [UInt8], curve: ECCurve) throws(CryptoError) {
        self.curve = curve
        let size = curve.coordinateByteCount
        switch sec1.first {
        case 4 where sec1.count == 1 + 2 * size:
            key = try Self.load(sec1, curve)
            point = sec1
        case 2 where sec1.count == 1 + size, 3 where sec1.count == 1 + size:
            // Loaded twice: a key that was read from a compressed point would be written compressed ever after.
            point = try Self.uncompressed(try Self.load(sec1, curve), curve)
            key = try Self.load(point, curve)
        default: throw .invalidKey(.unreadable)
        }
    }

    /// From SubjectPublicKeyInfo PEM. For what clients of a KAS send, see ``PublicKeyPEM``.
    public convenience init(pem: String) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: false))
    }

    convenience init(_ key: KeyObject) throws(CryptoError) {
        guard key.isA("EC") else { throw .invalidKey(.unreadable) }
        let curve = try ECCurve(of: key)
        try Self.check(key)
        try self.init(sec1: try Self.uncompressed(key, curve), curve: curve)
    }

    /// The public half of a key pair that libcrypto made or checked. The object is shared, and only its public half is
    /// ever used here.
    fileprivate init(ofKeyPair key: KeyObject, curve: ECCurve) throws(CryptoError) {
        self.key = key
        self.curve = curve
        point = try Self.uncompressed(key, curve)
    }

    /// 04 ‖ x ‖ y.
    public func uncompressed() -> [UInt8] { point }

    /// 02 or 03 ‖ x.
    public func compressed() -> [UInt8] {
        [2 | (point[point.count - 1] & 1)] + point[1...curve.coordinateByteCount]
    }

    /// SubjectPublicKeyInfo, uncompressed.
    public func spkiPEM() throws(CryptoError) -> String {
        // libcrypto's encoder costs more than a key agreement.
        curve == .p256 ? SubjectPublicKeyInfo.pem(p256Point: point) : try key.publicPEM()
    }

    /// Whether `signature` (r‖s) is an ECDSA-SHA256 signature of `message`; on P-256 that is JOSE's ES256.
    public func verifyES256(_ signature: [UInt8], message: [UInt8]) -> Bool {
        verifies(signature, message: message[...])
    }

    package func verifies(_ signature: [UInt8], message: ArraySlice<UInt8>) -> Bool {
        guard let der = ECDSASignature.der(fromRaw: signature, coordinateByteCount: curve.coordinateByteCount) else {
            return false
        }
        return key.verifies(der, message, digest: Algorithm.sha256)
    }

    private static func load(_ sec1: [UInt8], _ curve: ECCurve) throws(CryptoError) -> KeyObject {
        var group = Array(curve.rawValue.utf8CString)
        var octets = sec1
        let key = try group.withUnsafeMutableBufferPointer { (group) throws(CryptoError) -> KeyObject in
            try octets.withUnsafeMutableBufferPointer { (octets) throws(CryptoError) -> KeyObject in
                var parameters = [
                    OSSL_PARAM_construct_utf8_string(watchbox_param_group_name(), group.baseAddress, 0),
                    OSSL_PARAM_construct_octet_string(watchbox_param_public_key(), octets.baseAddress, octets.count),
                    OSSL_PARAM_construct_end(),
                ]
                return try KeyObject(publicKeyOf: "EC", &parameters, fault: .notOnCurve)
            }
        }
        try check(key)
        return key
    }

    /// On the curve and not infinity. That suffices: these curves have prime order, so no small subgroup exists.
    private static func check(_ key: KeyObject) throws(CryptoError) {
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check_quick(context) == 1 else {
            ERR_clear_error()
            throw .invalidKey(.notOnCurve)
        }
    }

    fileprivate static func uncompressed(_ key: KeyObject, _ curve: ECCurve) throws(CryptoError) -> [UInt8] {
        let size = curve.coordinateByteCount
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key.pointer, &encoded)
        defer { watchbox_free(encoded) }
        if let encoded, count == 1 + 2 * size, encoded[0] == 4 {
            return Array(UnsafeBufferPointer(start: encoded, count: count))
        }
        // A key that was read from a compressed point is encoded compressed.
        return [4] + (try key.number(watchbox_param_public_x(), count: size))
            + (try key.number(watchbox_param_public_y(), count: size))
    }
}

/// A private key on a NIST curve. No description; wiped by libcrypto when the last reference ends.
public final class ECPrivateKey: Sendable {
    public let publicKey: ECPublicKey
    private let key: KeyObject

    public var curve: ECCurve { publicKey.curve }

    /// A key that was read: checked before use.
    private convenience init(_ key: KeyObject) throws(CryptoError) {
        guard key.isA("EC") else { throw .invalidKey(.unreadable) }
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        let curve = try ECCurve(of: key)
        guard EVP_PKEY_private_check(context) == 1 else {
            ERR_clear_error()
            throw .invalidKey(.scalarOutOfRange)
        }
        // A file may hold a public key that isn't that of the scalar.
        guard EVP_PKEY_pairwise_check(context) == 1 else {
            ERR_clear_error()
            throw .invalidKey(.notOnCurve)
        }
        try self.init(pair: key, curve: curve)
    }

    private init(pair key: KeyObject, curve: ECCurve) throws(CryptoError) {
        self.key = key
        publicKey = try ECPublicKey(ofKeyPair: key, curve: curve)
    }

    public static func generate(_ curve: ECCurve) throws(CryptoError) -> ECPrivateKey {
        try ECPrivateKey(
            pair: try KeyObject(generating: "EC") { EVP_PKEY_CTX_set_group_name($0, curve.rawValue) }, curve: curve)
    }

    /// A fresh key on the curve of `peer`. Taking over its group is much cheaper than setting one up by name.
    public static func generate(like peer: ECPublicKey) throws(CryptoError) -> ECPrivateKey {
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_pkey(nil, peer.key.pointer, nil), "EVP_PKEY_CTX_new")
        return try ECPrivateKey(
            pair: try KeyObject(generatingWith: context) { _ in 1 }, curve: peer.curve)
    }

    /// PKCS #8 or SEC 1 PEM, not encrypted.
    public convenience init(pem: String) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: true))
    }

    /// The same from bytes, which the caller can wipe.
    public convenience init(pem: [UInt8]) throws(CryptoError) {
        try self.init(try KeyObject(pem: pem, isPrivate: true))
    }

    /// - Parameter scalar: big-endian, exactly as long as a coordinate of the curve.
    public convenience init(scalar: [UInt8], curve: ECCurve) throws(CryptoError) {
        guard scalar.count == curve.coordinateByteCount else { throw .invalidKey(.length(scalar.count)) }
        guard scalar.contains(where: { $0 != 0 }) else { throw .invalidKey(.scalarOutOfRange) }
        var der = ECPrivateKeyDER.encode(scalar: scalar, curve: curve)
        defer { OPENSSL_cleanse(&der, der.count) }
        let key = der.withBytes { (bytes, count) -> OpaquePointer? in
            var next: UnsafePointer<UInt8>? = bytes
            return d2i_PrivateKey(EVP_PKEY_EC, nil, &next, count)
        }
        guard let key else {
            ERR_clear_error()
            throw .invalidKey(.scalarOutOfRange)
        }
        try self.init(KeyObject(takingOwnershipOf: key))
    }

    /// The x-coordinate of the agreed point (ECDH), as long as a coordinate of the curve. Wipe it after use.
    public func sharedSecret(with peer: ECPublicKey) throws(CryptoError) -> [UInt8] {
        guard peer.curve == curve else { throw .invalidKey(.curveMismatch) }
        let context = try Library.unwrap(EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), "EVP_PKEY_CTX_new")
        defer { EVP_PKEY_CTX_free(context) }
        try Library.check(EVP_PKEY_derive_init(context), "EVP_PKEY_derive_init")
        // Not validated again: ECPublicKey holds no point that isn't on its curve.
        try Library.check(EVP_PKEY_derive_set_peer_ex(context, peer.key.pointer, 0), "EVP_PKEY_derive_set_peer_ex")
        var size = curve.coordinateByteCount
        return try [UInt8](capacity: size) { (output) throws(CryptoError) -> Int in
            try Library.check(EVP_PKEY_derive(context, output, &size), "EVP_PKEY_derive")
            return size
        }
    }

    /// ECDSA-SHA256 as r‖s; on P-256 that is JOSE's ES256.
    public func signES256(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        let der = try key.sign(message)
        guard let raw = ECDSASignature.raw(fromDER: der, coordinateByteCount: curve.coordinateByteCount) else {
            throw Library.failure("EVP_DigestSign")
        }
        return raw
    }

    /// Unencrypted PKCS #8. For key files of mode 0600 only; a key that serves is written from `privateKeyPEMBytes`.
    public func privateKeyPEM() throws(CryptoError) -> String { String(decoding: try key.privatePEM(), as: UTF8.self) }

    /// The same as bytes: wipe them after use.
    public func privateKeyPEMBytes() throws(CryptoError) -> [UInt8] { try key.privatePEM() }
}

extension ECPrivateKey {
    /// `HKDF-SHA256(ECDH, salt, info: "", 32)`: how collections and KAS sessions derive. Wipe it after use.
    public func deriveKey(with peer: ECPublicKey, salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        var secret = try sharedSecret(with: peer)
        defer { OPENSSL_cleanse(&secret, secret.count) }
        return try HKDF.sha256(ikm: secret, salt: salt, count: 32)
    }
}
