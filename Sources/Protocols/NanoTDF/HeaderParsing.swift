internal import Wire

extension NanoTDFHeader {
    /// Parses `bytes` as exactly one header.
    /// - Throws: `.wire(.truncated)` for every strict prefix of a header, `.wire(.trailingBytes)` for anything after
    ///   one, `.unsupported(.curve(.secp256k1))`, and `.invalid` or `.tooLarge` with field and offset.
    public static func parse(
        _ bytes: ArraySlice<UInt8>, limits: HeaderLimits = HeaderLimits()
    ) throws(NanoTDFError) -> NanoTDFHeader {
        guard bytes.count <= limits.header else {
            throw .tooLarge(.headerLength, count: bytes.count, limit: limits.header, offset: 0)
        }
        return try readings(bytes, limits: limits) { header, reader throws(NanoTDFError) in
            try reader.finish()
            return header
        }
    }

    public static func parse(
        _ bytes: [UInt8], limits: HeaderLimits = HeaderLimits()
    ) throws(NanoTDFError) -> NanoTDFHeader {
        try parse(bytes[...], limits: limits)
    }

    /// Parses the header that `bytes` begin with and hands it to `body` with a reader that stands behind it.
    ///
    /// An ECDSA binding has two forms, of fixed size (spec, C++, OpenTDFKit) and `length r length s` (Go, JS), and
    /// nothing in the header says which. What follows decides: `body` throws when it does not fit, and the other
    /// form is tried. The error of the first plausible form is the one that is reported.
    static func readings<R>(
        _ bytes: ArraySlice<UInt8>, limits: HeaderLimits,
        _ body: (NanoTDFHeader, inout FieldReader<NanoTDFError>) throws(NanoTDFError) -> R
    ) throws(NanoTDFError) -> R {
        var reader = FieldReader<NanoTDFError>(bytes)
        let front = try Front(reading: &reader, limits: limits)
        guard front.usesECDSABinding else {
            return try finish(front, bindingByteCount: 8, reader, body)
        }
        let fixed = front.curve.signatureByteCount
        guard let prefixed = prefixedBindingByteCount(reader, front.curve), prefixed != fixed else {
            return try finish(front, bindingByteCount: fixed, reader, body)
        }
        do {
            return try finish(front, bindingByteCount: prefixed, reader, body)
        } catch {
            return try finish(front, bindingByteCount: fixed, reader, body)
        }
    }

    /// Everything before the binding.
    private struct Front {
        let version: Version
        let locator: ResourceLocator
        let kasPublicKey: KASPublicKey?
        let curve: EllipticCurve
        let usesECDSABinding: Bool
        let payload: PayloadConfiguration
        let policy: Policy

        init(reading reader: inout FieldReader<NanoTDFError>, limits: HeaderLimits) throws(NanoTDFError) {
            for (offset, expected) in [UInt8(0x4C), 0x31].enumerated() where try reader.readUInt8() != expected {
                throw .invalid(.magic, offset: offset)
            }
            guard let version = Version(rawValue: try reader.readUInt8()) else { throw .invalid(.version, offset: 2) }
            self.version = version
            locator = try ResourceLocator(reading: &reader)
            switch version {
            case .l1l: kasPublicKey = nil
            case .l1m:
                let offset = reader.offset
                let curve = try supportedCurve(bits: try reader.readUInt8(), .kasKey, offset: offset)
                kasPublicKey = KASPublicKey(curve: curve, point: try compressedPoint(&reader, curve, .kasKey))
            }
            var offset = reader.offset
            let mode = try reader.readUInt8()
            // Bits 3 to 6 have no meaning in the spec and no writer sets them.
            guard mode & 0x78 == 0 else { throw .invalid(.bindingMode, offset: offset) }
            usesECDSABinding = mode & 0x80 != 0
            curve = try supportedCurve(bits: mode & 7, .bindingMode, offset: offset)
            offset = reader.offset
            let configuration = try reader.readUInt8()
            guard Int(configuration & 0xF) < PayloadConfiguration.tagByteCounts.count else {
                throw .invalid(.payloadConfiguration, offset: offset)
            }
            payload = PayloadConfiguration(
                isSigned: configuration & 0x80 != 0, signatureCurveBits: configuration >> 4 & 7,
                cipher: configuration & 0xF)
            policy = try Policy(reading: &reader, curve: curve, limit: limits.policy)
        }
    }

    private static func finish<R>(
        _ front: Front, bindingByteCount: Int, _ start: FieldReader<NanoTDFError>,
        _ body: (NanoTDFHeader, inout FieldReader<NanoTDFError>) throws(NanoTDFError) -> R
    ) throws(NanoTDFError) -> R {
        var reader = start
        let binding = Array(try reader.readBytes(bindingByteCount))
        let key = try compressedPoint(&reader, front.curve, .ephemeralKey)
        return try body(NanoTDFHeader(front, binding: binding, ephemeralPublicKey: key), &reader)
    }

    private init(_ front: Front, binding: [UInt8], ephemeralPublicKey: [UInt8]) {
        version = front.version
        locator = front.locator
        kasPublicKey = front.kasPublicKey
        curve = front.curve
        usesECDSABinding = front.usesECDSABinding
        payload = front.payload
        policy = front.policy
        self.binding = binding
        self.ephemeralPublicKey = ephemeralPublicKey
    }

    /// Size of the binding if it can be `length r length s`, followed by a compressed point; nil if it can't.
    private static func prefixedBindingByteCount(_ start: FieldReader<NanoTDFError>, _ curve: EllipticCurve) -> Int? {
        var reader = start
        for _ in 0..<2 {
            guard let length = try? reader.readUInt8(), (1...curve.coordinateByteCount).contains(Int(length)),
                (try? reader.readBytes(Int(length))) != nil
            else { return nil }
        }
        let count = reader.offset - start.offset
        guard let form = try? reader.readUInt8(), form == 2 || form == 3 else { return nil }
        return count
    }
}

private func supportedCurve(
    bits: UInt8, _ field: NanoTDFError.Field, offset: Int
) throws(NanoTDFError) -> EllipticCurve {
    guard let curve = EllipticCurve(rawValue: bits) else { throw .invalid(field, offset: offset) }
    guard curve != .secp256k1 else { throw .unsupported(.curve(curve)) }
    return curve
}

private func compressedPoint(
    _ reader: inout FieldReader<NanoTDFError>, _ curve: EllipticCurve, _ field: NanoTDFError.Field
) throws(NanoTDFError) -> [UInt8] {
    let offset = reader.offset
    let point = Array(try reader.readBytes(curve.compressedPointByteCount))
    guard point[0] == 2 || point[0] == 3 else { throw .invalid(field, offset: offset) }
    return point
}
