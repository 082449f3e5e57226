internal import TDF
internal import Wire

/// The files within an archive of profile P, each read when it is wanted.
struct PlayableArchiveFiles: Sendable {
    let entries: [String: ZIPContents.Item]

    private let file: FilePart

    init(_ path: String) throws(ArchiveError) {
        file = try FilePart(path)
        let items = try ZIPContents(file, limits: .playable).items
        entries = Dictionary(items.map { ($0.entry.name, $0) }) { first, _ in first }
    }

    /// Bytes of the whole.
    var size: Int64 { file.size }

    /// All bytes of a file, whose CRC-32 is the one that its entry has.
    func read(_ name: String) throws(ArchiveError) -> [UInt8] {
        guard let item = entries[name] else {
            throw .format(.container(.missingEntry(ShownText.ascii(name, limit: 40, replacing: "?")), offset: 0))
        }
        let limit = PlayableContainer.maxSize(of: name)
        guard item.data.count <= limit else {
            throw .playable(.fileSize(name: name, count: Int64(item.data.count), limit: limit))
        }
        return try ZIPContents.bytes(of: item, in: file)
    }
}
