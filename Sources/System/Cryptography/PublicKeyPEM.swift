internal import COpenSSL
internal import Wire

/// Public keys as the clients of a KAS send them (docs/ref/wire-format.md, "The client's key"): more forms than a strict reader takes.
public enum PublicKeyPEM: Sendable {
    /// P-256.
    case ec(ECPublicKey)
    /// 2048 to 4096 bits.
    case rsa(RSAPublicKey)

    /// Longest text that is looked at; an RSA-4096 key has about 800 characters.
    public static let textLimit = 8192

    /// Accepts SubjectPublicKeyInfo and a bare SEC1 point of P-256 (33 or 65 bytes) between the PEM lines, any line
    /// lengths and ends, and an END line that is glued to the base64 (the Arkavo app since app@1940a28).
    /// - Throws: `.invalidKey`, for a point that isn't on the curve, another curve, RSA outside 2048…4096 bits, and
    ///   everything else.
    public static func load(_ pem: String) throws(CryptoError) -> PublicKeyPEM {
        let der = try body(of: Array(pem.utf8))
        if der.count == 33 || der.count == 65 { return .ec(try ECPublicKey(sec1: der, curve: .p256)) }
        if let point = SubjectPublicKeyInfo.p256Point(der: der) {
            return .ec(try ECPublicKey(sec1: point, curve: .p256))
        }
        let key = try der.withBytes { (bytes, count) throws(CryptoError) -> KeyObject in
            var next: UnsafePointer<UInt8>? = bytes
            guard let pointer = d2i_PUBKEY(nil, &next, count) else {
                ERR_clear_error()
                throw .invalidKey(.unreadable)
            }
            let key = KeyObject(takingOwnershipOf: pointer)
            guard next == bytes + count else { throw .invalidKey(.unreadable) }
            return key
        }
        if key.isA("RSA") { return .rsa(try RSAPublicKey(key)) }
        let point = try ECPublicKey(key)
        guard point.curve == .p256 else { throw .invalidKey(.unsupportedCurve) }
        return .ec(point)
    }

    /// The bytes between `-----BEGIN PUBLIC KEY-----` and `-----END PUBLIC KEY-----`.
    static func body(of text: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard text.count <= textLimit,
            let begin = end(of: Array("-----BEGIN PUBLIC KEY-----".utf8), in: text[...])
        else { throw .invalidKey(.unreadable) }
        let endMark = Array("-----END PUBLIC KEY-----".utf8)
        guard let end = end(of: endMark, in: text[begin...]) else { throw .invalidKey(.unreadable) }
        let digits = text[begin..<(end - endMark.count)].filter { !whiteSpace.contains($0) }
        do { return try Base64.decode(utf8: digits) } catch { throw .invalidKey(.unreadable) }
    }

    private static let whiteSpace: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]

    private static func end(of mark: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        var start = text.startIndex
        while start + mark.count <= text.endIndex {
            if text[start...].starts(with: mark) { return start + mark.count }
            start += 1
        }
        return nil
    }
}
