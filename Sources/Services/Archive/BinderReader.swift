internal import Compression
internal import TDF

/// Recordings in one ZIP file, each a whole archive. What it says of them is compared with what they are when it is opened, but for their bytes.
public struct BinderReader: Sendable {
    /// A recording in it.
    public struct Recording: Sendable {
        public let name: RecordingName
        /// Its bytes.
        public let file: FilePart
        /// Where it begins in the binder.
        let offset: Int64
        fileprivate let entry: ZIPEntry
        fileprivate let sha256: [UInt8]

        /// That its bytes are those that the index and the list of entries promise.
        ///
        /// - Parameter progress: bytes of this one.
        public func verifyBytes(
            progress: ArchiveProgress = { (_) throws(ArchiveError) in }
        ) throws(ArchiveError) {
            var checksum = CRC32()
            let found = try BinderWriter.hash(of: file) { (bytes, offset) throws(ArchiveError) in
                try progress(offset)
                checksum.update(bytes)
            }
            guard checksum.value == entry.crc32 else {
                throw .format(.container(.checksum(entry: entry.name), offset: entry.offset))
            }
            guard found == sha256 else { throw .format(.recordingHash(name: name.fileName)) }
        }
    }

    public let index: BinderIndex
    /// In the order in which they were made.
    public let recordings: [Recording]
    /// Bytes of the file.
    public let size: Int64

    /// Whether a file is meant to be one: whether what is wrong with it is to be told as of one.
    public static func isMeant(by path: String) -> Bool {
        guard let file = try? FilePart(path), let (_, entries) = try? ZIPContents.list(file, limits: .binder) else {
            return false
        }
        return entries.contains { $0.name == BinderContainer.indexName }
    }

    /// Reads the index. What it refuses is listed in docs/ref/archive-format.md.
    public init(_ path: String) throws(ArchiveError) {
        let file = try FilePart(path)
        let contents = try ZIPContents(file, limits: .binder)
        let parts = try ArchiveReader.format { () throws(TDFError) in
            try BinderContainer.parts(contents.items.map(\.entry), offset: contents.end)
        }
        var json: [UInt8] = []
        for item in contents.items where item.entry.name == BinderContainer.indexName {
            json = try ZIPContents.bytes(of: item, in: file)
        }
        let (index, checked) = try ArchiveReader.format { () throws(TDFError) in
            let index = try BinderIndex(json: json)
            return (index, try index.checked(parts.recordings))
        }
        self.index = index
        size = file.size
        recordings = zip(contents.items.filter { $0.entry.name != BinderContainer.indexName }, checked).map {
            Recording(
                name: $1.name, file: file.part($0.data), offset: $0.data.lowerBound, entry: $0.entry,
                sha256: $1.sha256)
        }
    }
}
