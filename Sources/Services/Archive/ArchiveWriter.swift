internal import Compression
internal import FoundationEssentials
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// Writes one archive of profile S: what comes is sealed segment by segment, so memory holds one segment, and 28 bytes
/// and sizes of each one before. The file has its name when it is whole; letting go before leaves nothing behind.
public final class ArchiveWriter: ArchiveSealing {
    /// Bytes of plaintext in a segment that nobody ends before.
    public static let segmentSize = 1 << 20

    /// Bytes of plaintext sealed so far.
    public private(set) var clearSize: Int64 = 0

    private let file: PayloadFile
    private var sealer: TDFSealer
    private let mimeType: String
    private let segmentSize: Int
    private var pending: [UInt8] = []
    private var sealed: [UInt8] = []
    private var entries: [TDFSegmentEntry] = []
    private var rootSignature: [UInt8] = []
    private var isFinished = false

    /// - Parameters:
    ///   - path: of the archive. Written beside it at first.
    ///   - segmentSize: bytes of plaintext, 1 to `TDFSegmentEntry.maxClearSize`.
    public init(
        _ path: String, recipient: TDFRecipient, policy: PlaintextPolicy, mimeType: String = "video/mp4",
        segmentSize: Int = ArchiveWriter.segmentSize
    ) throws(ArchiveError) {
        precondition((1...TDFSegmentEntry.maxClearSize).contains(segmentSize), "the caller's fault")
        self.mimeType = mimeType
        self.segmentSize = segmentSize
        // The key first: what cannot be wrapped needs no file.
        do throws(TDFError) {
            sealer = try TDFSealer(recipient: recipient, policy: policy, crypto: OpenSSLTDFCrypto())
        } catch {
            throw .format(error)
        }
        file = try PayloadFile(path)
    }

    public func write(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        var rest = bytes
        while !rest.isEmpty {
            let taken = rest.prefix(segmentSize - pending.count)
            pending += taken
            rest = rest.dropFirst(taken.count)
            if pending.count == segmentSize { try endSegment() }
        }
    }

    /// Ends a segment here, such as before a key frame: what comes next can then be opened without what was before.
    public func endSegment() throws(ArchiveError) {
        guard !pending.isEmpty else { return }
        try sealPending()
    }

    /// Ends the archive, reads it again as far as that goes without the key, and gives the file its name.
    ///
    /// - Parameters:
    ///   - time: when the archive was made, in seconds since 1970.
    ///   - replaces: a file that has that name.
    public func finish(
        at time: Int64, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        precondition(!isFinished, "finished twice: the caller's fault")
        isFinished = true
        // Readers take an archive without segments for a broken one.
        if entries.isEmpty || !pending.isEmpty { try sealPending() }
        let manifest = TDFManifest(
            envelope: sealer.envelope, segments: entries, rootSignature: rootSignature, segmentSize: segmentSize,
            mimeType: mimeType,
            meta: .init(
                assetId: RandomUUID().description.uppercased(),
                protectedAt: Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)))
        let json = try ArchiveReader.format { () throws(TDFError) in try ManifestJSON.encode(manifest) }
        try file.finish(manifest: json, replaces: replaces) { (temporary) throws(ArchiveError) in
            try ArchiveReader(temporary).verifyStructure(progress: progress)
        }
    }

    private func sealPending() throws(ArchiveError) {
        do throws(TDFError) {
            let segment = try sealer.seal(pending[...], into: &sealed, at: 0)
            entries.append(segment.entry)
            rootSignature = segment.rootSignature
        } catch {
            throw .format(error)
        }
        clearSize += Int64(pending.count)
        pending.removeAll(keepingCapacity: true)
        try file.append(sealed[...])
    }
}
