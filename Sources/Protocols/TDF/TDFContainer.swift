/// The ZIP file around an archive: the payload first, whose size is known last, then the manifest under two names.
public enum TDFContainer {
    public static let payloadName = "0.payload"
    /// OpenTDF's SDKs read the first, Arkavo's app the second; both are the same bytes.
    public static let manifestNames = ["0.manifest.json", "manifest.json"]

    /// Bytes before the payload, in each file that is written here.
    public static let payloadOffset = Int64(header(payloadSize: 0, crc32: 0).count)

    /// What stands before the payload. Its length never changes: zeros are written first, and the size in their place when
    /// it is known.
    public static func header(payloadSize: Int64, crc32: UInt32) -> [UInt8] {
        ZIPWriting.localHeader(name: payloadName, size: payloadSize, crc32: crc32, isLarge: true)
    }

    /// What stands behind the payload: both manifests, and the list of entries.
    ///
    /// - Parameters:
    ///   - manifestCRC32: of `manifest`.
    /// - Throws: when no reader would take so long a manifest.
    public static func trailer(
        payloadSize: Int64, payloadCRC32: UInt32, manifest: [UInt8], manifestCRC32: UInt32
    ) throws(TDFError) -> [UInt8] {
        guard manifest.count <= TDFManifest.maxBytes else {
            throw .container(
                .manifestTooLarge(Int64(manifest.count), limit: TDFManifest.maxBytes),
                offset: payloadOffset + payloadSize)
        }
        let begin = payloadOffset + payloadSize
        var bytes: [UInt8] = []
        var entries = [ZIPEntry(name: payloadName, size: payloadSize, crc32: payloadCRC32, offset: 0)]
        for name in manifestNames {
            let size = Int64(manifest.count)
            entries.append(
                ZIPEntry(name: name, size: size, crc32: manifestCRC32, offset: begin + Int64(bytes.count)))
            bytes += ZIPWriting.localHeader(name: name, size: size, crc32: manifestCRC32, isLarge: false)
            bytes += manifest
        }
        let directory = entries.flatMap {
            ZIPWriting.directoryEntry($0, hasLargeHeader: $0.name == payloadName)
        }
        let offset = begin + Int64(bytes.count)
        bytes += directory
        bytes += ZIPWriting.endRecords(
            count: entries.count, directoryOffset: offset, directorySize: Int64(directory.count))
        return bytes
    }

    /// Which entries of a file are the payload and the manifests.
    ///
    /// - Returns: the manifests, one or two.
    public static func parts(
        _ entries: [ZIPEntry], offset: Int64
    ) throws(TDFError) -> (payload: ZIPEntry, manifests: [ZIPEntry]) {
        var payload: ZIPEntry?
        var manifests: [ZIPEntry] = []
        for entry in entries {
            if entry.name == payloadName {
                payload = entry
            } else if manifestNames.contains(entry.name) {
                guard entry.size <= Int64(TDFManifest.maxBytes) else {
                    throw .container(
                        .manifestTooLarge(entry.size, limit: TDFManifest.maxBytes), offset: entry.offset)
                }
                manifests.append(entry)
            } else {
                throw .container(.unexpectedEntry(entry.shownName), offset: entry.offset)
            }
        }
        guard let payload else { throw .container(.missingEntry(payloadName), offset: offset) }
        guard !manifests.isEmpty else { throw .container(.missingEntry(manifestNames[0]), offset: offset) }
        return (payload, manifests)
    }
}
