internal import Compression
public import KeyAccess
public import NanoTDF
public import TDF
internal import TDFCryptography

/// An archive in a file, read from where it is needed: memory holds the manifest, and one segment at a time.
public struct ArchiveReader: Sendable {
    public let manifest: TDFManifest
    public let map: TDFSegmentMap
    /// Bytes of the file.
    public var size: Int64 { file.size }
    /// It has no end yet, and this is what was written of it when it was opened (``GrownArchive``).
    public let isGrowing: Bool

    /// All of it.
    let file: FilePart
    /// In the file.
    private let payload: Range<Int64>
    private let payloadEntry: ZIPEntry

    /// Reads the manifest. What it refuses is listed in docs/ref/archive-format.md. Of a file that grows (`NAME.part`, with its journal beside
    /// it) it is the manifest that would be there if it ended now.
    public init(_ path: String) throws(ArchiveError) {
        do throws(ArchiveError) {
            if let grown = try GrownArchive(path) {
                self = grown.reader
                return
            }
        } catch {
            // Without a journal it is a file like any other, or there is none.
            guard error.isMissing else { throw error }
        }
        try self.init(try FilePart(path))
    }

    /// The same of a part of a file; offsets in errors count from where it begins.
    public init(_ file: FilePart) throws(ArchiveError) {
        let contents = try TDFContents(try ZIPContents(file, limits: .archive), file)
        let (manifest, map) = try Self.format { () throws(TDFError) in
            let manifest = try ManifestJSON.decode(contents.json)
            let map = try TDFSegmentMap(manifest)
            let size = contents.payload.entry.size
            guard map.encryptedSize == size else {
                throw .payloadSize(segments: map.encryptedSize, payload: size)
            }
            return (manifest, map)
        }
        self.file = file
        payload = contents.payload.data
        payloadEntry = contents.payload.entry
        self.manifest = manifest
        self.map = map
        isGrowing = false
    }

    /// One that has no manifest in its file yet.
    ///
    /// - Parameters:
    ///   - file: up to the end of its last segment.
    ///   - crc32: of the payload.
    init(growing file: FilePart, _ manifest: TDFManifest, crc32: UInt32) throws(ArchiveError) {
        let payload = TDFContainer.payloadOffset..<file.size
        map = try Self.format { () throws(TDFError) in try TDFSegmentMap(manifest) }
        self.file = file
        self.payload = payload
        payloadEntry = ZIPEntry(
            name: TDFContainer.payloadName, size: payload.upperBound - payload.lowerBound, crc32: crc32, offset: 0)
        self.manifest = manifest
        isGrowing = true
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
    public var policy: AccessPolicy? { ManifestJSON.policy(manifest.encryptionInformation.policy) }

    /// The bytes of a segment, as they are in the file.
    func segment(_ index: Int) throws(ArchiveError) -> [UInt8] {
        let range = map.encryptedRange(of: index)
        let begin = payload.lowerBound
        return try file.read((begin + range.lowerBound)..<(begin + range.upperBound))
    }

    static func format<R>(_ body: () throws(TDFError) -> R) throws(ArchiveError) -> R {
        do { return try body() } catch { throw .format(error) }
    }
}
