internal import Wire

/// What a fragment says of its samples: `senc`, and `saiz` and `saio` for readers that go by these (ISO/IEC 23001-7 §7).
enum SampleAuxiliary {
    /// UseSubSampleEncryption.
    static let subsampleFlag: UInt32 = 2

    /// - Parameter place: where they will be, from the first byte of `moof`.
    static func boxes(_ samples: [[Subsample]], at place: Int) throws(CommonEncryptionError) -> [UInt8] {
        let entries = samples.map { $0.encoded() }
        var content: [UInt8] = []
        content.appendUInt32(UInt32(truncatingIfNeeded: samples.count))
        // default_sample_info_size 0: each has its own.
        let saiz = try MovieBox.fullBox("saiz", [0] + content + entries.map { UInt8(truncatingIfNeeded: $0.count) })
        let saioSize = 20
        // Behind both, and behind the header of `senc`, its flags and its count.
        guard let offset = UInt32(exactly: place + saiz.count + saioSize + 16) else {
            throw .movie(.value(UInt64(place)), box: "saio", offset: place)
        }
        var offsets: [UInt8] = []
        offsets.appendUInt32(1)
        offsets.appendUInt32(offset)
        return try saiz + MovieBox.fullBox("saio", offsets)
            + MovieBox.fullBox("senc", flags: subsampleFlag, content + entries.flatMap { $0 })
    }

    /// Whether `saiz` and `saio` say of `senc` what it is. A reader that goes by them must not decrypt anything else than one that goes by it.
    ///
    /// - Parameters:
    ///   - boxes: those of `traf`.
    ///   - parts: of `senc`; nil: its samples are protected as a whole, or it is not there.
    ///   - required: they have to be there where `senc` is, as players want them.
    static func check(
        _ bytes: [UInt8], _ boxes: [MovieBox], senc: MovieBox?, _ parts: [[Subsample]]?, samples: Int, moof: MovieBox,
        required: Bool = false
    ) throws(CommonEncryptionError) {
        let saiz = try boxes.only("saiz")
        let saio = try boxes.only("saio")
        guard let senc else {
            if let box = saiz ?? saio { throw box.fault(.unsupported("what it says without senc")) }
            return
        }
        guard let saiz, let saio else {
            if let box = saiz ?? saio { throw box.fault(.differs) }
            guard !required else { throw .movie(.missing, box: "saiz", offset: senc.range.lowerBound) }
            return
        }
        let expected = parts.map { $0.map { 2 + 6 * $0.count } } ?? Array(repeating: 0, count: samples)
        try saiz.fields(bytes) { (reader: inout FieldReader<CommonEncryptionError>) throws(CommonEncryptionError) in
            try skipType(&reader, saiz)
            let usual = Int(try reader.readUInt8())
            guard Int(try reader.readUInt32()) == samples else { throw saiz.fault(.differs) }
            for size in expected {
                guard (usual > 0 ? usual : Int(try reader.readUInt8())) == size else { throw saiz.fault(.differs) }
            }
            guard reader.isAtEnd else { throw saiz.fault(.value(UInt64(reader.remaining))) }
        }
        // Behind its header, flags and count.
        let place = UInt64(senc.content.lowerBound + 8 - moof.range.lowerBound)
        try saio.fields(bytes) { (reader: inout FieldReader<CommonEncryptionError>) throws(CommonEncryptionError) in
            let version = try skipType(&reader, saio)
            guard try reader.readUInt32() == 1 else { throw saio.fault(.differs) }
            let offset = version == 0 ? UInt64(try reader.readUInt32()) : try reader.readUInt64()
            guard offset == place, reader.isAtEnd else { throw saio.fault(.differs) }
        }
    }

    /// - Returns: the version.
    @discardableResult
    private static func skipType(
        _ reader: inout FieldReader<CommonEncryptionError>, _ box: MovieBox
    ) throws(CommonEncryptionError) -> UInt32 {
        let head = try reader.readUInt32()
        guard head & 1 != 0 else { return head >> 24 }
        let type = FourCC(value: try reader.readUInt32())
        guard type == ProtectionScheme.scheme else { throw box.fault(.unsupported("the type \(type)")) }
        try reader.skip(4)
        return head >> 24
    }

    /// The parts of each sample.
    ///
    /// - Parameter box: `senc`.
    /// - Returns: nil where samples are protected as a whole.
    static func subsamples(
        _ bytes: [UInt8], _ box: MovieBox, samples: [Range<Int>]
    ) throws(CommonEncryptionError) -> [[Subsample]]? {
        try box.fields(bytes) { (reader: inout FieldReader<CommonEncryptionError>) throws(CommonEncryptionError) in
            let flags = try reader.readUInt32()
            guard flags & ~subsampleFlag == 0 else { throw box.fault(.unsupported("the flags \(flags)")) }
            let count = try reader.readUInt32()
            guard Int(count) == samples.count else { throw box.fault(.value(UInt64(count))) }
            guard flags & subsampleFlag != 0 else { return nil }
            var all: [[Subsample]] = []
            for sample in samples {
                var parts: [Subsample] = []
                var sum: UInt64 = 0
                for _ in 0..<(try reader.readUInt16()) {
                    let part = Subsample(clear: try reader.readUInt16(), protected: try reader.readUInt32())
                    sum += part.size
                    parts.append(part)
                }
                guard sum == UInt64(sample.count) else {
                    throw box.fault(.subsamples(sum: sum, sample: sample.count))
                }
                all.append(parts)
            }
            guard reader.isAtEnd else { throw box.fault(.value(UInt64(reader.remaining))) }
            return all
        }
    }
}
