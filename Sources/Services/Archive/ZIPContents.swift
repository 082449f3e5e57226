internal import Compression
internal import TDF

/// The entries of a ZIP file, where nothing else is in it, and none reaches into another.
struct ZIPContents {
    struct Item: Sendable {
        var entry: ZIPEntry
        /// In the file.
        var data: Range<Int64>
    }

    /// In the order of their data.
    let items: [Item]
    /// Where their list begins.
    let end: Int64

    init(_ file: FilePart, limits: ZIPDirectory.Limits) throws(ArchiveError) {
        let (directory, entries) = try Self.list(file, limits: limits)
        if let first = entries.first, first.offset > 0 {
            throw .format(.container(.gap(count: first.offset), offset: 0))
        }
        var items: [Item] = []
        items.reserveCapacity(entries.count)
        for (index, entry) in entries.enumerated() {
            let header = try file.read(directory.headerRange(of: entry))
            let next = index + 1 < entries.count ? entries[index + 1].offset : directory.range.lowerBound
            let data = try ArchiveReader.format { () throws(TDFError) in
                try directory.dataRange(of: entry, header: header, end: next)
            }
            let gap = data.upperBound..<next
            let start = try file.read(
                gap.clamped(to: gap.lowerBound..<(gap.lowerBound + Int64(ZIPDirectory.maxDescriptorSize))))
            try ArchiveReader.format { () throws(TDFError) in try directory.checkGap(start, behind: entry, gap) }
            items.append(Item(entry: entry, data: data))
        }
        self.items = items
        end = directory.range.lowerBound
    }

    /// The list of entries, in the order of their data.
    static func list(
        _ file: FilePart, limits: ZIPDirectory.Limits
    ) throws(ArchiveError) -> (directory: ZIPDirectory, entries: [ZIPEntry]) {
        let end = try file.read(ZIPDirectory.endRange(ofFile: file.size))
        let directory = try ArchiveReader.format { () throws(TDFError) in
            try ZIPDirectory(end: end, fileSize: file.size, limits: limits)
        }
        let list = try file.read(directory.range)
        return (directory, try ArchiveReader.format { () throws(TDFError) in try directory.entries(list) })
    }

    /// The bytes of a small entry, with the checksum that they have by the list.
    static func bytes(of item: Item, in file: FilePart) throws(ArchiveError) -> [UInt8] {
        let bytes = try file.read(item.data)
        guard CRC32(bytes).value == item.entry.crc32 else {
            throw .format(.container(.checksum(entry: item.entry.name), offset: item.entry.offset))
        }
        return bytes
    }
}
