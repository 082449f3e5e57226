internal import Compression
internal import TDF

extension GrowingArchive {
    /// What the journal's head has.
    struct Head: Codable, Equatable {
        var envelope: TDFEnvelope
        var mimeType: String
        var meta: TDFManifest.Meta
        /// When the first frame was captured, in milliseconds since 1970, as this machine's clock said.
        var begin: Int64

        func manifest(_ segments: [TDFSegmentEntry], rootSignature: [UInt8]) -> TDFManifest {
            TDFManifest(
                envelope: envelope, segments: segments, rootSignature: rootSignature,
                segmentSize: segments.map(\.clearSize).max() ?? 0, mimeType: mimeType, meta: meta)
        }

        /// Whether readers open an archive that begins so.
        func check() throws(TDFError) {
            _ = try TDFSegmentMap(manifest([], rootSignature: [UInt8](repeating: 0, count: 32)))
        }
    }

    /// What an archive has so far, without the payload itself.
    struct Content {
        let head: Head
        private(set) var segments: [TDFSegmentEntry] = []
        private(set) var last: ArchiveJournal.Entry?
        /// Where the payload ends, in the file.
        private(set) var end = TDFContainer.payloadOffset

        init(_ head: Head) {
            self.head = head
        }

        /// Of media, in milliseconds.
        var duration: UInt32 { last?.duration ?? 0 }

        mutating func append(_ entry: ArchiveJournal.Entry) {
            segments.append(entry.segment.entry)
            last = entry
            end += Int64(entry.segment.entry.encryptedSize)
        }

        /// What stands before and behind a payload that ends with `last`.
        func container(_ last: ArchiveJournal.Entry) throws(TDFError) -> (header: [UInt8], trailer: [UInt8]) {
            let size = end - TDFContainer.payloadOffset
            let json = try ManifestJSON.encode(
                head.manifest(segments, rootSignature: last.segment.rootSignature))
            return (
                TDFContainer.header(payloadSize: size, crc32: last.payloadCRC32),
                try TDFContainer.trailer(
                    payloadSize: size, payloadCRC32: last.payloadCRC32, manifest: json,
                    manifestCRC32: CRC32(json).value)
            )
        }
    }
}
