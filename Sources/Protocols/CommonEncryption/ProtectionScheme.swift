internal import Wire

/// How the samples of a track are protected: `sinf` of its sample entry (ISO/IEC 23001-7 §4.2, §8.2).
struct ProtectionScheme: Equatable, Sendable {
    static let scheme: FourCC = "cbcs"
    static let keyIDByteCount = 16

    /// Of the sample entry without protection.
    var format: FourCC
    var pattern: SamplePattern
    /// default_KID, 16 bytes.
    var keyID: [UInt8]
    /// default_constant_IV, 16 bytes.
    var iv: [UInt8]

    func encoded() throws(CommonEncryptionError) -> [UInt8] {
        var frma: [UInt8] = []
        frma.appendUInt32(format.value)
        var schm: [UInt8] = []
        schm.appendUInt32(Self.scheme.value)
        schm.appendUInt32(0x0001_0000)
        // Reserved; pattern; default_isProtected; no IV in each sample.
        var tenc: [UInt8] = [0, UInt8(pattern.encrypted << 4 | pattern.clear), 1, 0]
        tenc += keyID
        tenc.append(UInt8(iv.count))
        tenc += iv
        let schi = try MovieBox.box("schi", MovieBox.fullBox("tenc", version: 1, tenc))
        return try MovieBox.box(
            "sinf", MovieBox.box("frma", frma) + MovieBox.fullBox("schm", schm) + schi)
    }

    init(format: FourCC, pattern: SamplePattern, keyID: [UInt8], iv: [UInt8]) {
        self.format = format
        self.pattern = pattern
        self.keyID = keyID
        self.iv = iv
    }

    /// - Parameter box: `sinf`.
    init(_ bytes: [UInt8], _ box: MovieBox) throws(CommonEncryptionError) {
        typealias Fields = FieldReader<CommonEncryptionError>
        let children = try box.children(bytes)
        let begin = box.range.lowerBound
        let format = try children.required("frma", in: begin).fields(bytes) {
            (reader: inout Fields) throws(CommonEncryptionError) in
            FourCC(value: try reader.readUInt32())
        }
        let schm = try children.required("schm", in: begin)
        let scheme = try schm.fields(bytes) { (reader: inout Fields) throws(CommonEncryptionError) in
            try reader.skip(4)
            return FourCC(value: try reader.readUInt32())
        }
        guard scheme == Self.scheme else { throw schm.fault(.unsupported("the scheme \(scheme)")) }
        let schi = try children.required("schi", in: begin)
        let tenc = try schi.children(bytes).required("tenc", in: schi.range.lowerBound)
        self = try tenc.fields(bytes) { (reader: inout Fields) throws(CommonEncryptionError) in
            let version = try reader.readUInt32() >> 24
            guard version == 1 else { throw tenc.fault(.unsupported("version \(version)")) }
            try reader.skip(1)
            let pattern = try reader.readUInt8()
            let isProtected = try reader.readUInt8()
            let ivSize = try reader.readUInt8()
            guard isProtected == 1, ivSize == 0 else {
                throw tenc.fault(.unsupported("an IV in each sample"))
            }
            let encrypted = Int(pattern >> 4)
            let clear = Int(pattern & 15)
            guard encrypted > 0 || clear == 0 else { throw tenc.fault(.value(UInt64(pattern))) }
            let keyID = Array(try reader.readBytes(Self.keyIDByteCount))
            let count = try reader.readUInt8()
            guard count == 16 else { throw tenc.fault(.unsupported("a constant IV of \(count) bytes")) }
            return ProtectionScheme(
                format: format, pattern: SamplePattern(encrypted: encrypted, clear: clear), keyID: keyID,
                iv: Array(try reader.readBytes(16)))
        }
    }
}
