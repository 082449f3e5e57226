internal import Wire

extension ZIPDirectory {
    /// The entries in the order of their data.
    ///
    /// - Parameter bytes: those of ``range``.
    public func entries(_ bytes: [UInt8]) throws(TDFError) -> [ZIPEntry] {
        precondition(Int64(bytes.count) == range.upperBound - range.lowerBound, "the caller's fault")
        var reader = FieldReader<TDFError>(bytes)
        var entries: [ZIPEntry] = []
        var names: Set<String> = []
        for _ in 0..<count {
            let offset = range.lowerBound + Int64(reader.offset)
            let entry = try Self.located(at: range.lowerBound) { () throws(TDFError) in
                try Self.entry(&reader, offset: offset, dataEnd: range.lowerBound)
            }
            guard names.insert(entry.name).inserted else {
                throw .container(.duplicateEntry(entry.shownName), offset: offset)
            }
            entries.append(entry)
        }
        guard reader.isAtEnd else {
            throw .container(.directoryMisplaced, offset: range.lowerBound + Int64(reader.offset))
        }
        return entries.sorted { $0.offset < $1.offset }
    }

    private static func entry(
        _ reader: inout FieldReader<TDFError>, offset: Int64, dataEnd: Int64
    ) throws(TDFError) -> ZIPEntry {
        guard try reader.readUInt32LittleEndian() == ZIPFormat.directoryEntry else {
            throw .container(.noRecord(.directoryEntry), offset: offset)
        }
        try reader.skip(4)
        let flags = try reader.read16()
        let method = try reader.read16()
        try reader.skip(4)
        let crc32 = try reader.readUInt32LittleEndian()
        let packed = try reader.readUInt32LittleEndian()
        let size = try reader.readUInt32LittleEndian()
        let lengths = (name: try reader.read16(), extra: try reader.read16(), comment: try reader.read16())
        let disk = try reader.read16()
        try reader.skip(6)
        let place = try reader.readUInt32LittleEndian()
        let name = String(decoding: try reader.readBytes(Int(lengths.name)), as: UTF8.self)
        let shown = ZIPEntry.shown(name)
        let extra = try reader.readBytes(Int(lengths.extra))
        try reader.skip(Int(lengths.comment))
        guard flags & ZIPFormat.refusedFlags == 0 else { throw .container(.encrypted(entry: shown), offset: offset) }
        guard method == 0 else { throw .container(.compressed(entry: shown, method: method), offset: offset) }
        guard disk == 0 else { throw .container(.severalDisks, offset: offset) }
        let large = try ZIPExtraFields.sizes(extra, of: [size, packed, place], offset: offset)
        guard large[0] == large[1] else { throw .container(.overlap(entry: shown), offset: offset) }
        guard let begin = Int64(exactly: large[2]), let length = Int64(exactly: large[0]), begin <= dataEnd,
            length <= dataEnd - begin
        else { throw .container(.overlap(entry: shown), offset: offset) }
        var entry = ZIPEntry(name: name, size: length, crc32: crc32, offset: begin)
        entry.flags = flags
        return entry
    }

    /// What has to be read of an entry to know where its data are.
    public func headerRange(of entry: ZIPEntry) -> Range<Int64> {
        let length = ZIPFormat.localHeaderSize + entry.name.utf8.count + ZIPExtraFields.maxLength
        return entry.offset..<min(entry.offset + Int64(length), range.lowerBound)
    }

    /// Where the data of an entry are.
    ///
    /// - Parameters:
    ///   - header: the bytes of ``headerRange(of:)``.
    ///   - end: where the next entry begins, or the list of entries.
    public func dataRange(
        of entry: ZIPEntry, header: [UInt8], end: Int64
    ) throws(TDFError) -> Range<Int64> {
        let shown = entry.shownName
        let length = try Self.located(at: entry.offset) { () throws(TDFError) in
            var reader = FieldReader<TDFError>(header)
            guard try reader.readUInt32LittleEndian() == ZIPFormat.localHeader else {
                throw .container(.noRecord(.localHeader), offset: entry.offset)
            }
            try reader.skip(2)
            let flags = try reader.read16()
            let method = try reader.read16()
            try reader.skip(4)
            let crc32 = try reader.readUInt32LittleEndian()
            let packed = try reader.readUInt32LittleEndian()
            let size = try reader.readUInt32LittleEndian()
            let lengths = (name: try reader.read16(), extra: try reader.read16())
            let name = try reader.readBytes(Int(lengths.name))
            guard lengths.extra <= ZIPExtraFields.maxLength else {
                throw .container(.extraFields, offset: entry.offset)
            }
            let sizes = try ZIPExtraFields.sizes(
                try reader.readBytes(Int(lengths.extra)), of: [size, packed], offset: entry.offset)
            // Sizes and CRC-32 may be behind the data, and zero here; the list of entries has them in any case.
            let isLater = entry.isDescribed && crc32 == 0 && sizes.allSatisfy { $0 == 0 }
            guard flags == entry.flags, method == 0, name.elementsEqual(entry.name.utf8),
                isLater || crc32 == entry.crc32 && sizes.allSatisfy({ $0 == UInt64(entry.size) })
            else { throw .container(.headersDiffer(entry: shown), offset: entry.offset) }
            return reader.offset
        }
        let begin = entry.offset + Int64(length)
        guard begin <= end, entry.size <= end - begin else {
            throw .container(.overlap(entry: shown), offset: entry.offset)
        }
        return begin..<(begin + entry.size)
    }

    /// Whether what lies behind the data of an entry is nothing, or what is said of them there (§4.3.9).
    ///
    /// - Parameters:
    ///   - bytes: up to the next entry, or to the list of entries; the first ``maxDescriptorSize`` of them do.
    ///   - range: where they are in the file, all of them.
    public func checkGap(_ bytes: [UInt8], behind entry: ZIPEntry, _ range: Range<Int64>) throws(TDFError) {
        if bytes.isEmpty { return }
        var possible: [[UInt8]] = []
        for signature in [[], [UInt8](littleEndian: ZIPFormat.descriptor)] where entry.isDescribed {
            let head = signature + [UInt8](littleEndian: entry.crc32)
            let size = [UInt8](littleEndian: UInt64(entry.size))
            possible += [head + size + size]
            if let small = UInt32(exactly: entry.size) {
                let size = [UInt8](littleEndian: small)
                possible += [head + size + size]
            }
        }
        let count = range.upperBound - range.lowerBound
        guard count == Int64(bytes.count), possible.contains(bytes) else {
            throw .container(.gap(count: count), offset: range.lowerBound)
        }
    }

    /// Bytes of the longest description of data that stands behind them.
    public static let maxDescriptorSize = 24

    /// Offsets of what was cut, in the file.
    private static func located<R>(
        at begin: Int64, _ body: () throws(TDFError) -> R
    ) throws(TDFError) -> R {
        do throws(TDFError) {
            return try body()
        } catch {
            guard case .wire(.truncated(let offset, let needed, let available)) = error else { throw error }
            throw .container(.truncated(needed: needed, available: available), offset: begin + Int64(offset))
        }
    }
}

/// What follows the name in the header of an entry: sizes with 64 bits, and what other writers add.
enum ZIPExtraFields {
    /// Bytes of a local header's; what is longer is refused.
    static let maxLength = 1024

    /// The values of an entry, each from its extra field where the header has no room for it (§4.5.3).
    ///
    /// - Parameters:
    ///   - values: in the order of the extra field.
    ///   - offset: of the header, for errors.
    static func sizes(
        _ extra: ArraySlice<UInt8>, of values: [UInt32], offset: Int64
    ) throws(TDFError) -> [UInt64] {
        do throws(TDFError) {
            var large: ArraySlice<UInt8>?
            var reader = FieldReader<TDFError>(extra)
            while !reader.isAtEnd {
                let kind = try reader.read16()
                let content = try reader.readBytes(Int(try reader.read16()))
                guard kind == ZIPFormat.zip64ExtraField else { continue }
                guard large == nil else { throw .container(.extraFields, offset: offset) }
                large = content
            }
            guard let large else { return values.map { UInt64($0) } }
            var fields = FieldReader<TDFError>(large)
            var sizes: [UInt64] = []
            for value in values { sizes.append(value == .max ? try fields.read64() : UInt64(value)) }
            return sizes
        } catch {
            guard case .wire = error else { throw error }
            throw .container(.extraFields, offset: offset)
        }
    }
}

extension [UInt8] {
    fileprivate init(littleEndian value: some FixedWidthInteger) {
        self = (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
