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
