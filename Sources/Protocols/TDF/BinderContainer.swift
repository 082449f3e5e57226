/// The ZIP file around several recordings, each a whole archive: they come first, and last an index, which is known when all of them are there.
public enum BinderContainer {
    public static let indexName = "index.json"

    /// Recordings that one may have: a month of minutes.
    public static let maxRecordings = 50_000
    /// Bytes of the index that are read.
    public static let maxIndexBytes = 16 << 20

    /// What stands before a recording. Its length never changes: zeros are written first, and size and CRC-32 in their place when they are known.
    public static func header(name: String, size: Int64, crc32: UInt32) -> [UInt8] {
        ZIPWriting.localHeader(name: name, size: size, crc32: crc32, isLarge: true)
    }

    /// What stands behind the recordings: the index, and the list of entries.
    ///
    /// - Parameters:
    ///   - recordings: in their order in the file.
    ///   - offset: where the last of them ends.
    ///   - index: its JSON.
    ///   - indexCRC32: of `index`.
    /// - Throws: when no reader would take so long an index, or so many recordings.
    public static func trailer(
        _ recordings: [ZIPEntry], offset: Int64, index: [UInt8], indexCRC32: UInt32
    ) throws(TDFError) -> [UInt8] {
        guard index.count <= maxIndexBytes else {
            throw .index(path: "", .count(index.count, 0...maxIndexBytes))
        }
        guard recordings.count <= maxRecordings else {
            throw .index(path: "recordings", .count(recordings.count, 1...maxRecordings))
        }
        let entry = ZIPEntry(name: indexName, size: Int64(index.count), crc32: indexCRC32, offset: offset)
        var bytes = ZIPWriting.localHeader(name: indexName, size: entry.size, crc32: indexCRC32, isLarge: false)
        bytes += index
        let directoryOffset = offset + Int64(bytes.count)
        var directory = recordings.flatMap { ZIPWriting.directoryEntry($0, hasLargeHeader: true) }
        directory += ZIPWriting.directoryEntry(entry, hasLargeHeader: false)
        bytes += directory
        bytes += ZIPWriting.endRecords(
            count: recordings.count + 1, directoryOffset: directoryOffset, directorySize: Int64(directory.count))
        return bytes
    }

    /// Which entries of a file are the recordings, in the order of their data, and which is the index.
    ///
    /// - Parameter offset: of the list of entries, for errors.
    public static func parts(
        _ entries: [ZIPEntry], offset: Int64
    ) throws(TDFError) -> (recordings: [ZIPEntry], index: ZIPEntry) {
        var recordings: [ZIPEntry] = []
        var index: ZIPEntry?
        recordings.reserveCapacity(entries.count)
        for entry in entries {
            if entry.name == indexName { index = entry } else { recordings.append(entry) }
        }
        guard let index else { throw .container(.missingEntry(indexName), offset: offset) }
        guard index.size <= Int64(maxIndexBytes) else {
            throw .index(path: "", .count(Int(clamping: index.size), 0...maxIndexBytes))
        }
        return (recordings, index)
    }
}
