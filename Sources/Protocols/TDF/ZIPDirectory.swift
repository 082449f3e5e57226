internal import Wire

/// Where the list of entries of a ZIP file is, as its end says.
public struct ZIPDirectory: Equatable, Sendable {
    /// How long a list is read.
    public struct Limits: Equatable, Sendable {
        var entries: Int
        var bytes: Int

        /// An archive has two or three entries.
        public static let archive = Limits(entries: 16, bytes: 64 << 10)
        /// Recordings, each with a name and sizes of 64 bits, and their index.
        public static let binder = Limits(entries: BinderContainer.maxRecordings + 1, bytes: 8 << 20)
        /// Segments, playlist and manifest.
        public static let playable = Limits(
            entries: PlayableContainer.maxEntries, bytes: PlayableContainer.maxDirectoryBytes)
    }

    /// In the file.
    public let range: Range<Int64>
    let count: Int

    /// The last bytes of a file, which hold all that its end can have: a comment is refused.
    public static func endRange(ofFile size: Int64) -> Range<Int64> {
        let needed = ZIPFormat.zip64EndRecordSize + ZIPFormat.zip64LocatorSize + ZIPFormat.endRecordSize
        return max(0, size - Int64(needed))..<max(0, size)
    }

    /// - Parameters:
    ///   - end: the bytes of ``endRange(ofFile:)``.
    ///   - size: of the file.
    public init(end: [UInt8], fileSize size: Int64, limits: Limits = .archive) throws(TDFError) {
        let begin = size - Int64(end.count)
        let recordStart = end.count - ZIPFormat.endRecordSize
        guard recordStart >= 0 else { throw .container(.noEndRecord, offset: 0) }
        var reader = FieldReader<TDFError>(end[recordStart...])
        let recordOffset = begin + Int64(recordStart)
        guard try reader.readUInt32LittleEndian() == ZIPFormat.endRecord else {
            throw .container(.noEndRecord, offset: recordOffset)
        }
        let disks = (try reader.read16(), try reader.read16())
        let counts = (try reader.read16(), try reader.read16())
        let bytes = try reader.readUInt32LittleEndian()
        let offset = try reader.readUInt32LittleEndian()
        // With a comment the record would not end where the file ends.
        guard try reader.read16() == 0 else { throw .container(.noEndRecord, offset: recordOffset) }
        let large = try Self.largeEnd(end[..<recordStart], offset: recordOffset)
        guard disks == (0, 0) || large != nil && disks == (.max, .max), counts.0 == counts.1 else {
            throw .container(.severalDisks, offset: recordOffset)
        }
        var values = (count: UInt64(counts.0), bytes: UInt64(bytes), offset: UInt64(offset))
        var endsAt = recordOffset
        if let large {
            guard counts.0 == .max || UInt64(counts.0) == large.count, bytes == .max || UInt64(bytes) == large.bytes,
                offset == .max || UInt64(offset) == large.offset
            else { throw .container(.endRecordsDiffer, offset: recordOffset) }
            values = large
            endsAt -= Int64(ZIPFormat.zip64LocatorSize + ZIPFormat.zip64EndRecordSize)
        }
        guard values.count <= UInt64(limits.entries) else {
            throw .container(
                .directoryTooLarge(count: Int64(clamping: values.count), limit: limits.entries), offset: recordOffset)
        }
        guard values.bytes <= UInt64(limits.bytes) else {
            throw .container(
                .directoryTooLarge(count: Int64(clamping: values.bytes), limit: limits.bytes), offset: recordOffset)
        }
        guard let first = Int64(exactly: values.offset), first <= endsAt, endsAt - first == Int64(values.bytes) else {
            throw .container(.directoryMisplaced, offset: recordOffset)
        }
        range = first..<endsAt
        count = Int(values.count)
    }

    /// The end record with 64 bits, when its locator stands before the other one.
    ///
    /// - Parameters:
    ///   - bytes: all that is known before the end record.
    ///   - offset: of the end record in the file.
    private static func largeEnd(
        _ bytes: ArraySlice<UInt8>, offset: Int64
    ) throws(TDFError) -> (count: UInt64, bytes: UInt64, offset: UInt64)? {
        guard bytes.count >= ZIPFormat.zip64LocatorSize else { return nil }
        var locator = FieldReader<TDFError>(bytes.suffix(ZIPFormat.zip64LocatorSize))
        guard try locator.readUInt32LittleEndian() == ZIPFormat.zip64Locator else { return nil }
        let disk = try locator.readUInt32LittleEndian()
        let place = try locator.read64()
        let disks = try locator.readUInt32LittleEndian()
        let locatorOffset = offset - Int64(ZIPFormat.zip64LocatorSize)
        guard disk == 0, disks == 1 else { throw .container(.severalDisks, offset: locatorOffset) }
        let recordOffset = locatorOffset - Int64(ZIPFormat.zip64EndRecordSize)
        let record = bytes.dropLast(ZIPFormat.zip64LocatorSize).suffix(ZIPFormat.zip64EndRecordSize)
        // Directly before its locator, and without further data: what else writers may put there, none does.
        guard record.count == ZIPFormat.zip64EndRecordSize, place == UInt64(recordOffset) else {
            throw .container(.noRecord(.zip64EndRecord), offset: max(0, recordOffset))
        }
        var reader = FieldReader<TDFError>(record)
        guard try reader.readUInt32LittleEndian() == ZIPFormat.zip64EndRecord,
            try reader.read64() == UInt64(ZIPFormat.zip64EndRecordSize - 12)
        else { throw .container(.noRecord(.zip64EndRecord), offset: recordOffset) }
        try reader.skip(4)
        let ownDisks = (try reader.readUInt32LittleEndian(), try reader.readUInt32LittleEndian())
        let counts = (try reader.read64(), try reader.read64())
        guard ownDisks == (0, 0), counts.0 == counts.1 else {
            throw .container(.severalDisks, offset: recordOffset)
        }
        return (counts.0, try reader.read64(), try reader.read64())
    }
}

extension FieldReader<TDFError> {
    /// Little-endian, as all numbers of ZIP.
    mutating func read16() throws(TDFError) -> UInt16 { try readUInt16().byteSwapped }

    mutating func read64() throws(TDFError) -> UInt64 { try readUInt64().byteSwapped }
}
