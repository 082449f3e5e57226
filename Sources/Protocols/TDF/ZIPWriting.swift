internal import Wire

/// The records of a ZIP file around what is stored in it.
enum ZIPWriting {
    /// - Parameter isLarge: with ZIP64 sizes, whatever the size is: so the header has the same length before the size is known.
    static func localHeader(name: String, size: Int64, crc32: UInt32, isLarge: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendUInt32LittleEndian(ZIPFormat.localHeader)
        bytes.append16(isLarge ? ZIPFormat.zip64Version : ZIPFormat.version)
        bytes.append16(0)
        bytes.append16(0)
        bytes.append16(ZIPFormat.time)
        bytes.append16(ZIPFormat.date)
        bytes.appendUInt32LittleEndian(crc32)
        for _ in 0..<2 { bytes.appendUInt32LittleEndian(isLarge ? .max : UInt32(truncatingIfNeeded: size)) }
        bytes.append16(UInt16(name.utf8.count))
        bytes.append16(isLarge ? 20 : 0)
        bytes += name.utf8
        if isLarge {
            // In a local header both sizes are there, or none (§4.5.3).
            bytes.append16(ZIPFormat.zip64ExtraField)
            bytes.append16(16)
            for _ in 0..<2 { bytes.append64(UInt64(size)) }
        }
        return bytes
    }

    /// - Parameter hasLargeHeader: its local header has ZIP64 sizes.
    static func directoryEntry(_ entry: ZIPEntry, hasLargeHeader: Bool) -> [UInt8] {
        let isLarge = entry.size >= Int64(UInt32.max)
        let isFar = entry.offset >= Int64(UInt32.max)
        var extra: [UInt8] = []
        if isLarge { for _ in 0..<2 { extra.append64(UInt64(entry.size)) } }
        if isFar { extra.append64(UInt64(entry.offset)) }
        let version = hasLargeHeader || isFar ? ZIPFormat.zip64Version : ZIPFormat.version
        var bytes: [UInt8] = []
        bytes.appendUInt32LittleEndian(ZIPFormat.directoryEntry)
        bytes.append16(version)
        bytes.append16(version)
        bytes.append16(0)
        bytes.append16(0)
        bytes.append16(ZIPFormat.time)
        bytes.append16(ZIPFormat.date)
        bytes.appendUInt32LittleEndian(entry.crc32)
        for _ in 0..<2 { bytes.appendUInt32LittleEndian(isLarge ? .max : UInt32(entry.size)) }
        bytes.append16(UInt16(entry.name.utf8.count))
        bytes.append16(extra.isEmpty ? 0 : UInt16(extra.count + 4))
        // Comment, disk, attributes: none.
        bytes += [UInt8](repeating: 0, count: 10)
        bytes.appendUInt32LittleEndian(isFar ? .max : UInt32(entry.offset))
        bytes += entry.name.utf8
        if !extra.isEmpty {
            bytes.append16(ZIPFormat.zip64ExtraField)
            bytes.append16(UInt16(extra.count))
            bytes += extra
        }
        return bytes
    }

    /// The records behind the list of entries; those with 64 bits only where 32 do not do.
    static func endRecords(count: Int, directoryOffset: Int64, directorySize: Int64) -> [UInt8] {
        let isLarge =
            count >= Int(UInt16.max) || directoryOffset >= Int64(UInt32.max) || directorySize >= Int64(UInt32.max)
        var bytes: [UInt8] = []
        if isLarge {
            bytes.appendUInt32LittleEndian(ZIPFormat.zip64EndRecord)
            bytes.append64(UInt64(ZIPFormat.zip64EndRecordSize - 12))
            bytes.append16(ZIPFormat.zip64Version)
            bytes.append16(ZIPFormat.zip64Version)
            for _ in 0..<2 { bytes.appendUInt32LittleEndian(0) }
            for _ in 0..<2 { bytes.append64(UInt64(count)) }
            bytes.append64(UInt64(directorySize))
            bytes.append64(UInt64(directoryOffset))
            bytes.appendUInt32LittleEndian(ZIPFormat.zip64Locator)
            bytes.appendUInt32LittleEndian(0)
            bytes.append64(UInt64(directoryOffset + directorySize))
            bytes.appendUInt32LittleEndian(1)
        }
        bytes.appendUInt32LittleEndian(ZIPFormat.endRecord)
        for _ in 0..<2 { bytes.append16(0) }
        for _ in 0..<2 { bytes.append16(UInt16(clamping: count)) }
        bytes.appendUInt32LittleEndian(UInt32(clamping: directorySize))
        bytes.appendUInt32LittleEndian(UInt32(clamping: directoryOffset))
        bytes.append16(0)
        return bytes
    }
}

extension [UInt8] {
    /// Little-endian, as all numbers of ZIP.
    fileprivate mutating func append16(_ value: UInt16) { appendUInt16(value.byteSwapped) }

    fileprivate mutating func append64(_ value: UInt64) { appendUInt64(value.byteSwapped) }
}
