internal import TDF

/// Payload and manifest of the ZIP file around an archive.
struct TDFContents {
    let payload: ZIPContents.Item
    /// Both manifests, where there are two.
    let json: [UInt8]

    init(_ contents: ZIPContents, _ file: FilePart) throws(ArchiveError) {
        let parts = try ArchiveReader.format { () throws(TDFError) in
            try TDFContainer.parts(contents.items.map(\.entry), offset: contents.end)
        }
        var json: [UInt8]?
        var payload = ZIPContents.Item(entry: parts.payload, data: 0..<0)
        for item in contents.items {
            guard item.entry != parts.payload else {
                payload = item
                continue
            }
            let bytes = try ZIPContents.bytes(of: item, in: file)
            guard json == nil || json == bytes else {
                throw .format(.container(.manifestsDiffer, offset: item.entry.offset))
            }
            json = bytes
        }
        self.payload = payload
        self.json = json ?? []
    }
}
