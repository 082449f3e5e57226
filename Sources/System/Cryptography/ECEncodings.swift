internal import Wire

/// ECDSA signatures between DER (libcrypto) and r‖s of fixed size (JOSE, NanoTDF).
enum ECDSASignature {
    static func der(fromRaw raw: [UInt8], coordinateByteCount size: Int) -> [UInt8]? {
        guard raw.count == 2 * size else { return nil }
        let body = integer(raw[..<size]) + integer(raw[size...])
        return [0x30] + length(body.count) + body
    }

    static func raw(fromDER der: [UInt8], coordinateByteCount size: Int) -> [UInt8]? {
        var rest = der[...]
        guard let sequence = value(&rest, tag: 0x30), rest.isEmpty else { return nil }
        var fields = sequence
        guard let r = value(&fields, tag: 2), let s = value(&fields, tag: 2), fields.isEmpty else { return nil }
        var raw: [UInt8] = []
        for number in [r, s] {
            let digits = number.drop { $0 == 0 }
            guard digits.count <= size else { return nil }
            raw += [UInt8](repeating: 0, count: size - digits.count) + digits
        }
        return raw
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.isEmpty || digits[0] & 0x80 != 0 { digits.insert(0, at: 0) }
        return [2] + length(digits.count) + digits
    }

    /// Up to 255: the largest signature, on P-521, has 139 bytes.
    private static func length(_ count: Int) -> [UInt8] {
        count < 128 ? [UInt8(count)] : [0x81, UInt8(count)]
    }

    private static func value(_ bytes: inout ArraySlice<UInt8>, tag: UInt8) -> ArraySlice<UInt8>? {
        guard bytes.popFirst() == tag, var count = bytes.popFirst().map(Int.init) else { return nil }
        if count == 0x81 {
            guard let long = bytes.popFirst() else { return nil }
            count = Int(long)
        }
        guard count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}

/// `ECPrivateKey` of RFC 5915 without the public key, which libcrypto then computes.
enum ECPrivateKeyDER {
    static func encode(scalar: [UInt8], curve: ECCurve) -> [UInt8] {
        let identifier: [UInt8] =
            switch curve {
            case .p256: [0x06, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
            case .p384: [0x06, 5, 0x2B, 0x81, 4, 0, 0x22]
            case .p521: [0x06, 5, 0x2B, 0x81, 4, 0, 0x23]
            }
        let count = 5 + scalar.count + 2 + identifier.count
        // One allocation, which the caller wipes: no copy of the scalar stays behind.
        var der: [UInt8] = []
        der.reserveCapacity(2 + count)
        der += [0x30, UInt8(count), 2, 1, 1, 4, UInt8(scalar.count)]
        der += scalar
        der += [0xA0, UInt8(identifier.count)]
        der += identifier
        return der
    }
}

/// SubjectPublicKeyInfo (RFC 5480) of an uncompressed point on P-256: everything but the point is always the same.
enum SubjectPublicKeyInfo {
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// The point, not checked; nil when these bytes are something else.
    static func p256Point(der: [UInt8]) -> [UInt8]? {
        guard der.count == prefix.count + 65, der.starts(with: prefix) else { return nil }
        return Array(der[prefix.count...])
    }

    /// - Parameter point: 04 ‖ x ‖ y.
    static func der(p256Point point: [UInt8]) -> [UInt8] { prefix + point }

    /// - Parameter point: 04 ‖ x ‖ y.
    static func pem(p256Point point: [UInt8]) -> String {
        let digits = Array(Base64.encode(der(p256Point: point)).utf8)
        let lines = stride(from: 0, to: digits.count, by: 64).map {
            String(decoding: digits[$0..<min($0 + 64, digits.count)], as: UTF8.self)
        }
        return "-----BEGIN PUBLIC KEY-----\n" + lines.joined(separator: "\n") + "\n-----END PUBLIC KEY-----\n"
    }
}
