import Wire

@testable import NanoTDF

// What other makers write as files: the product reads streams, its tests read these as well.

/// How items stand one after the other outside RTMP (docs/ref/wire-format.md, "Framings").
enum ItemFraming: Sendable {
    /// `IV ‖ length(3) of ciphertext and tag ‖ ciphertext ‖ tag`: RTMP, OpenTDFKit's collection files.
    case container
    /// `length(3) of IV, ciphertext and tag ‖ IV ‖ ciphertext ‖ tag`: behind the header of a single NanoTDF, and for
    /// each item of a dataset.
    case dataset
    /// `IV ‖ length(4) of ciphertext and tag ‖ ciphertext ‖ tag`: an option of OpenTDFKit.
    case selfDescribing
    /// `IV ‖ ciphertext ‖ tag` without a length, one item in all: opentdf-rs.
    case bare
}

/// A whole NanoTDF: header, one item and, perhaps, a signature (spec §3.3).
struct SingleNanoTDF: Equatable, Sendable {
    let header: NanoTDFHeader
    /// Bytes of the header.
    let headerByteCount: Int
    let item: ContainerItem
    /// Compressed public key and r‖s, if the header says that the payload is signed.
    let signature: Signature?

    struct Signature: Equatable, Sendable {
        /// Compressed SEC1 point.
        let publicKey: [UInt8]
        /// r‖s.
        let value: [UInt8]
    }

    private let signedBytes: ArraySlice<UInt8>

    /// - Parameter limit: bytes of the payload at most; its length field allows 2^24 − 1.
    /// - Throws: as `NanoTDFHeader.parse`, and `.invalid(.itemLength, …)` when the payload has no room for the tag.
    static func parse(
        _ bytes: ArraySlice<UInt8>, limits: HeaderLimits = HeaderLimits(), limit: Int = 0xFF_FFFF
    ) throws(NanoTDFError) -> SingleNanoTDF {
        try NanoTDFHeader.readings(bytes, limits: limits) { header, reader throws(NanoTDFError) in
            let headerByteCount = reader.offset
            let item = try ContainerItem(
                reading: &reader, .dataset, tagByteCount: header.tagByteCount, limit: limit)
            let signed = bytes.prefix(reader.offset)
            var signature: Signature?
            if header.payload.isSigned {
                guard let curve = header.payload.signatureCurve else {
                    throw .invalid(.signature, offset: reader.offset)
                }
                guard curve != .secp256k1 else { throw .unsupported(.curve(curve)) }
                let key = Array(try reader.readBytes(curve.compressedPointByteCount))
                signature = Signature(publicKey: key, value: Array(try reader.readBytes(curve.signatureByteCount)))
            }
            try reader.finish()
            return SingleNanoTDF(
                header: header, headerByteCount: headerByteCount, item: item, signature: signature,
                signedBytes: signed)
        }
    }

    /// Whether the signature over header and payload verifies; nil if there is none. Whose key it is, is the
    /// caller's question.
    func verifiesSignature(crypto: some NanoTDFCrypto) -> Bool? {
        guard let signature, let curve = header.payload.signatureCurve else { return nil }
        return crypto.verifiesECDSA(
            signature: signature.value, message: signedBytes, publicKey: signature.publicKey[...], curve: curve)
    }
}

extension ContainerItem {
    /// Reads one item in any framing.
    init(
        reading reader: inout FieldReader<NanoTDFError>, _ framing: ItemFraming, tagByteCount: Int, limit: Int
    ) throws(NanoTDFError) {
        let start = reader.offset
        let counter: UInt32
        let body: ArraySlice<UInt8>
        switch framing {
        case .container:
            counter = try reader.readUInt24()
            body = try Self.body(&reader, length: Int(try reader.readUInt24()), limit: limit, offset: start + 3)
        case .dataset:
            let length = Int(try reader.readUInt24())
            guard length >= 3 else { throw .invalid(.itemLength, offset: start) }
            counter = try reader.readUInt24()
            body = try Self.body(&reader, length: length - 3, limit: limit, offset: start)
        case .selfDescribing:
            counter = try reader.readUInt24()
            body = try Self.body(&reader, length: Int(try reader.readUInt32()), limit: limit, offset: start + 3)
        case .bare:
            counter = try reader.readUInt24()
            body = try Self.body(&reader, length: reader.remaining, limit: limit, offset: start)
        }
        do {
            self = try ItemEnvelope(counter: counter, body: body).split(tagByteCount: tagByteCount)
        } catch {
            throw .invalid(.itemLength, offset: start)
        }
    }

    private static func body(
        _ reader: inout FieldReader<NanoTDFError>, length: Int, limit: Int, offset: Int
    ) throws(NanoTDFError) -> ArraySlice<UInt8> {
        guard length <= limit else { throw .tooLarge(.itemLength, count: length, limit: limit, offset: offset) }
        return try reader.readBytes(length)
    }
}

/// Splits the items of a file; nothing is opened.
struct ItemSequence: Sendable {
    private var reader: FieldReader<NanoTDFError>
    private let framing: ItemFraming
    private let tagByteCount: Int
    private let limit: Int

    /// - Parameters:
    ///   - tagByteCount: from the header.
    ///   - limit: bytes of one item's ciphertext and tag at most.
    init(_ bytes: ArraySlice<UInt8>, framing: ItemFraming, tagByteCount: Int, limit: Int = 0xFF_FFFF) {
        reader = FieldReader<NanoTDFError>(bytes)
        self.framing = framing
        self.tagByteCount = tagByteCount
        self.limit = limit
    }

    /// The next item; nil at the end.
    mutating func next() throws(NanoTDFError) -> ContainerItem? {
        guard reader.remaining > 0 else { return nil }
        return try ContainerItem(reading: &reader, framing, tagByteCount: tagByteCount, limit: limit)
    }
}

/// OpenTDFKit's collection file: `header length(4) ‖ header ‖ item count(4) ‖ items`.
struct CollectionFile: Sendable {
    let header: NanoTDFHeader
    let items: [ContainerItem]

    static func parse(
        _ bytes: ArraySlice<UInt8>, framing: ItemFraming = .container, limits: HeaderLimits = HeaderLimits()
    ) throws(NanoTDFError) -> CollectionFile {
        var reader = FieldReader<NanoTDFError>(bytes)
        let length = Int(try reader.readUInt32())
        guard length <= limits.header else {
            throw .tooLarge(.headerLength, count: length, limit: limits.header, offset: 0)
        }
        let header = try NanoTDFHeader.parse(try reader.readBytes(length), limits: limits)
        let start = reader.offset
        let count = Int(try reader.readUInt32())
        // An item has at least its IV and its tag: a count beyond what is there is refused before anything is kept.
        guard count <= reader.remaining / (3 + header.tagByteCount) else {
            throw .invalid(.itemCount, offset: start)
        }
        var items: [ContainerItem] = []
        for _ in 0..<count {
            items.append(
                try ContainerItem(
                    reading: &reader, framing, tagByteCount: header.tagByteCount, limit: 0xFF_FFFF))
        }
        try reader.finish()
        return CollectionFile(header: header, items: items)
    }
}

/// Opens the items of a file, in any order: counter 0 and repeats are legal there, and some writers count
/// little-endian. A live stream needs ``StreamOpener``.
struct ItemReader: Sendable {
    private let context: any ItemOpeningContext
    /// Locked when the first item authenticates.
    private(set) var nonceRule: NonceRule?

    /// - Throws: `.crypto`.
    init(key: CollectionKey, crypto: some NanoTDFCrypto) throws(NanoTDFError) {
        do { context = try crypto.makeOpening(key) } catch { throw .crypto(error) }
    }

    /// - Throws: `.authenticationFailed`.
    mutating func open(_ item: ContainerItem) throws(NanoTDFError) -> [UInt8] {
        for rule in nonceRule.map({ [$0] }) ?? NonceRule.allCases {
            let plaintext: [UInt8]?
            do {
                plaintext = try context.open(
                    ciphertext: item.ciphertext, tag: item.tag, nonce: rule.nonce(item.counter))
            } catch {
                throw .crypto(error)
            }
            if let plaintext {
                nonceRule = rule
                return plaintext
            }
        }
        throw .authenticationFailed
    }

    /// The JSON of the policy: a plaintext policy unchanged, that of an encrypted one if it authenticates
    /// under this key and a nonce of twelve zero bytes.
    /// - Throws: `.unsupported(.policyType(…))` for types 0 and 3, `.authenticationFailed`.
    func policy(of header: NanoTDFHeader) throws(NanoTDFError) -> [UInt8] {
        switch header.policy {
        case .plaintext(let body): return body
        case .encrypted(let body):
            guard body.count >= header.tagByteCount else { throw .invalid(.policyLength, offset: 0) }
            let plaintext: [UInt8]?
            do {
                plaintext = try context.open(
                    ciphertext: body.dropLast(header.tagByteCount), tag: body.suffix(header.tagByteCount),
                    nonce: [UInt8](repeating: 0, count: 12))
            } catch {
                throw .crypto(error)
            }
            guard let plaintext else { throw .authenticationFailed }
            return plaintext
        case .remote, .encryptedWithKeyAccess: throw .unsupported(.policyType(header.policy.typeCode))
        }
    }
}

extension NanoTDFHeader.PayloadConfiguration {
    /// Nil: the three bits name no curve.
    var signatureCurve: EllipticCurve? { EllipticCurve(rawValue: signatureCurveBits) }
}
