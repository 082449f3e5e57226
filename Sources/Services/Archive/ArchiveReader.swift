internal import Compression
internal import FoundationEssentials
public import KeyAccess
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// An archive in a file, read from where it is needed: memory holds the manifest, and one segment at a time.
public struct ArchiveReader: Sendable {
    public let manifest: TDFManifest
    public let map: TDFSegmentMap
    /// Bytes of the file.
    public var size: Int64 { file.size }

    private let file: RandomAccessFile
    /// In the file.
    private let payload: Range<Int64>
    private let payloadEntry: ZIPEntry

    /// Reads the manifest. What it refuses is listed in docs/ref/archive-format.md.
    public init(_ path: String) throws(ArchiveError) {
        let file = try Self.input { () throws(RandomAccessFile.Failure) in try RandomAccessFile(path) }
        func read(_ range: Range<Int64>) throws(ArchiveError) -> [UInt8] {
            try Self.input { () throws(RandomAccessFile.Failure) in try file.read(range) }
        }
        let end = try read(ZIPDirectory.endRange(ofFile: file.size))
        let directory = try Self.format { () throws(TDFError) in try ZIPDirectory(end: end, fileSize: file.size) }
        let list = try read(directory.range)
        let entries = try Self.format { () throws(TDFError) in try directory.entries(list) }
        var ranges: [String: Range<Int64>] = [:]
        if let first = entries.first, first.offset > 0 {
            throw .format(.container(.gap(count: first.offset), offset: 0))
        }
        for (index, entry) in entries.enumerated() {
            let header = try read(directory.headerRange(of: entry))
            let next = index + 1 < entries.count ? entries[index + 1].offset : directory.range.lowerBound
            let data = try Self.format { () throws(TDFError) in
                try directory.dataRange(of: entry, header: header, end: next)
            }
            let gap = data.upperBound..<next
            let start = try read(
                gap.clamped(to: gap.lowerBound..<(gap.lowerBound + Int64(ZIPDirectory.maxDescriptorSize))))
            try Self.format { () throws(TDFError) in try directory.checkGap(start, behind: entry, gap) }
            ranges[entry.name] = data
        }
        let parts = try Self.format { () throws(TDFError) in
            try TDFContainer.parts(entries, offset: directory.range.lowerBound)
        }
        var json: [UInt8]?
        for entry in parts.manifests {
            let bytes = try read(ranges[entry.name] ?? 0..<0)
            guard CRC32(bytes).value == entry.crc32 else {
                throw .format(.container(.checksum(entry: entry.name), offset: entry.offset))
            }
            guard json == nil || json == bytes else {
                throw .format(.container(.manifestsDiffer, offset: entry.offset))
            }
            json = bytes
        }
        let payload = ranges[parts.payload.name] ?? 0..<0
        let (manifest, map) = try Self.format { () throws(TDFError) in
            let manifest = try ManifestJSON.decode(json ?? [])
            let map = try TDFSegmentMap(manifest)
            guard map.encryptedSize == parts.payload.size else {
                throw .payloadSize(segments: map.encryptedSize, payload: parts.payload.size)
            }
            return (manifest, map)
        }
        self.file = file
        self.payload = payload
        payloadEntry = parts.payload
        self.manifest = manifest
        self.map = map
    }

    /// What can be verified without a key: that each segment has the hash that the manifest lists, and the payload its
    /// checksum. It notices accidents; somebody who changed the manifest as well is noticed with the key alone.
    public func verifyStructure(
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        var checksum = CRC32()
        for index in 0..<map.count {
            try progress(map.clearRange(of: index).lowerBound)
            let bytes = try segment(index)
            try Self.format { () throws(TDFError) in try map.checkHash(of: index, bytes[...]) }
            checksum.update(bytes[...])
        }
        guard checksum.value == payloadEntry.crc32 else {
            throw .format(.container(.checksum(entry: payloadEntry.name), offset: payloadEntry.offset))
        }
    }

    /// The archive with its key.
    ///
    /// - Parameter index: of the entry of `keyAccess` that the key came from.
    /// - Throws: when policy binding or root signature do not verify.
    public func opened(_ key: CollectionKey, fromKeyAccess index: Int = 0) throws(ArchiveError) -> OpenedArchive {
        try Self.format { () throws(TDFError) in
            OpenedArchive(
                reader: self,
                opener: try TDFOpener(
                    manifest, key: key, fromKeyAccess: index, payloadSize: payloadEntry.size,
                    crypto: OpenSSLTDFCrypto()))
        }
    }

    /// Who may have the key, as the manifest says; nil when it cannot be read. Verified in an ``OpenedArchive`` alone.
    public var policy: AccessPolicy? {
        guard let bytes = try? Base64.decode(manifest.encryptionInformation.policy),
            (try? JSONShape.check(bytes)) != nil
        else { return nil }
        return try? JSONDecoder().decode(AccessPolicy.self, from: Data(bytes))
    }

    /// The bytes of a segment, as they are in the file.
    func segment(_ index: Int) throws(ArchiveError) -> [UInt8] {
        let range = map.encryptedRange(of: index)
        let begin = payload.lowerBound
        return try Self.input { () throws(RandomAccessFile.Failure) in
            try file.read((begin + range.lowerBound)..<(begin + range.upperBound))
        }
    }

    private static func input<R>(
        _ body: () throws(RandomAccessFile.Failure) -> R
    ) throws(ArchiveError) -> R {
        do { return try body() } catch { throw .input(error) }
    }

    static func format<R>(_ body: () throws(TDFError) -> R) throws(ArchiveError) -> R {
        do { return try body() } catch { throw .format(error) }
    }
}
