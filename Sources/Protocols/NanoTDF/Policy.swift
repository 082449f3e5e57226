internal import Wire

/// Who may have the key: the policy section of a header without its binding (spec §3.4.2).
public enum Policy: Equatable, Sendable {
    /// Type 0: the policy lies somewhere else.
    case remote(ResourceLocator)
    /// Type 1: JSON in the clear, what ntdf-1 writes.
    case plaintext([UInt8])
    /// Type 2: AES-256-GCM(DEK, nonce of twelve zero bytes) of the JSON, ciphertext ‖ tag of the header's size.
    case encrypted([UInt8])
    /// Type 3: encrypted under a key that another locator has. Parsed only; no KAS serves it.
    case encryptedWithKeyAccess(ciphertext: [UInt8], locator: ResourceLocator, ephemeralPublicKey: [UInt8])

    /// The type byte on the wire.
    public var typeCode: UInt8 {
        switch self {
        case .remote: 0
        case .plaintext: 1
        case .encrypted: 2
        case .encryptedWithKeyAccess: 3
        }
    }

    /// What a policy binding covers: the locator, the JSON, or the ciphertext; without type byte and length.
    public var boundBytes: [UInt8] {
        switch self {
        case .remote(let locator):
            var bytes: [UInt8] = []
            locator.append(to: &bytes)
            return bytes
        case .plaintext(let body), .encrypted(let body): return body
        case .encryptedWithKeyAccess(let ciphertext, _, _): return ciphertext
        }
    }

    init(reading reader: inout FieldReader<NanoTDFError>, curve: EllipticCurve, limit: Int) throws(NanoTDFError) {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 0: self = .remote(try ResourceLocator(reading: &reader))
        case 1: self = .plaintext(try Self.body(&reader, limit: limit))
        case 2: self = .encrypted(try Self.body(&reader, limit: limit))
        case 3:
            let ciphertext = try Self.body(&reader, limit: limit)
            let locator = try ResourceLocator(reading: &reader)
            let key = Array(try reader.readBytes(curve.compressedPointByteCount))
            self = .encryptedWithKeyAccess(ciphertext: ciphertext, locator: locator, ephemeralPublicKey: key)
        default: throw .invalid(.policyType, offset: start)
        }
    }

    func append(to output: inout [UInt8]) throws(NanoTDFError) {
        output.append(typeCode)
        switch self {
        case .remote(let locator): locator.append(to: &output)
        case .plaintext(let body), .encrypted(let body): try Self.append(body, to: &output)
        case .encryptedWithKeyAccess(let ciphertext, let locator, let key):
            try Self.append(ciphertext, to: &output)
            locator.append(to: &output)
            output += key
        }
    }

    private static func body(_ reader: inout FieldReader<NanoTDFError>, limit: Int) throws(NanoTDFError) -> [UInt8] {
        let start = reader.offset
        let count = Int(try reader.readUInt16())
        guard count > 0 else { throw .invalid(.policyLength, offset: start) }
        guard count <= limit else { throw .tooLarge(.policy, count: count, limit: limit, offset: start) }
        return Array(try reader.readBytes(count))
    }

    private static func append(_ body: [UInt8], to output: inout [UInt8]) throws(NanoTDFError) {
        guard !body.isEmpty else { throw .invalid(.policyLength, offset: output.count) }
        guard body.count <= 0xFFFF else {
            throw .tooLarge(.policy, count: body.count, limit: 0xFFFF, offset: output.count)
        }
        output.append(UInt8(body.count >> 8))
        output.append(UInt8(body.count & 0xFF))
        output += body
    }
}
