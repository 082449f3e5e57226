internal import CommonEncryption
internal import Compression
internal import Cryptography
internal import FoundationEssentials
internal import KeyAccess
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// Writes one archive of profile P of a fragmented MP4: memory holds one segment, and hash and duration of each one before. The file has its name
/// when it is whole; letting go before leaves nothing behind.
public final class PlayableArchiveWriter: ArchiveSealing {
    /// Seconds of a segment, from which on it ends with its fragment: what Apple recommends.
    public static let segmentDuration = 6.0

    /// Boxes of a segment, from which on it ends before the next key frame, whatever its fragments say of their durations.
    private static let usualBoxes = 512
    /// Boxes that a segment has at most: readers take some more.
    private static let maxBoxes = MovieTiming.maxBoxes - 24

    /// What a player asks for the key by, and Arkavo's session for the asset: a UUID in upper case.
    public let assetID: String
    /// Bytes of the film so far.
    public private(set) var clearSize: Int64 = 0

    private let file: UnfinishedFile
    private let key: PlayableKey
    private let keyID: [UInt8]
    private let iv: [UInt8]
    private let envelope: TDFEnvelope
    private let segmentDuration: Double
    private var splitter = MovieSplitter()
    private var film: (encryptor: CBCSEncryptor, timing: MovieTiming)?
    private var pending: [UInt8] = []
    private var pendingDuration = 0.0
    private var pendingBoxes = 0
    /// Of the film in clear, as far as it is in `pending`.
    private var pendingDigest: RunningSHA256?
    /// What each segment has to be decrypted to.
    private var clearDigests: [[UInt8]] = []
    private var isIndependent = true
    private var segments: [MediaPlaylist.Segment] = []
    private var hashes: [String: [UInt8]] = [:]
    private var entries: [ZIPEntry] = []
    private var isFinished = false

    /// - Parameters:
    ///   - path: of the archive. Written beside it at first.
    ///   - segmentDuration: seconds; a segment that has them ends before the next key frame that a fragment begins with.
    public init(
        _ path: String, recipient: TDFRecipient, policy: PlaintextPolicy,
        segmentDuration: Double = PlayableArchiveWriter.segmentDuration
    ) throws(ArchiveError) {
        self.segmentDuration = segmentDuration
        let asset = RandomUUID()
        assetID = asset.description.uppercased()
        keyID = asset.bytes
        // The key first: what cannot be wrapped needs no file.
        do throws(TDFError) {
            let text = try TDFEnvelope.text(of: policy)
            do throws(TDFCryptoError) {
                let (key, wrappedKey, iv) = try PlayableKey.draw(publicKeyPEM: recipient.publicKeyPEM)
                envelope = TDFEnvelope(
                    recipient: recipient, policy: text, wrappedKeys: [wrappedKey],
                    policyBinding: try key.policyBinding(text))
                self.key = key
                self.iv = iv
            } catch {
                throw .crypto(error)
            }
        } catch {
            throw .format(error)
        }
        do throws(FileFailure) { file = try UnfinishedFile(path) } catch { throw .output(error) }
    }

    /// The next bytes of the film, cut anywhere.
    public func write(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        splitter.append(bytes)
        clearSize += Int64(bytes.count)
        while let piece = try media({ () throws(CommonEncryptionError) in try splitter.next() }) {
            switch piece {
            case .start(let initSegment): try begin(initSegment)
            case .fragment(let fragment): try append(fragment)
            }
        }
    }

    /// Segments end before a key frame after some seconds, whatever else would end one.
    public func endSegment() {}

    private func begin(_ initSegment: [UInt8]) throws(ArchiveError) {
        let limit = PlayableContainer.maxHeadSize
        guard initSegment.count <= limit / 2 else {
            throw .playable(
                .filmPart("the beginning", count: Int64(initSegment.count), limit: limit / 2))
        }
        let film = try media { () throws(CommonEncryptionError) in
            (
                encryptor: try CBCSEncryptor(
                    initSegment: initSegment, keyID: keyID, iv: iv, cipher: key.cipher),
                timing: try MovieTiming(initSegment: initSegment)
            )
        }
        self.film = film
        try add(PlayableContainer.initName, film.encryptor.initSegment)
    }

    private func append(_ fragment: [UInt8]) throws(ArchiveError) {
        guard film != nil else { throw .playable(.noFilm) }
        let encrypted = try media { () throws(CommonEncryptionError) in try film?.encryptor.encrypt(fragment) ?? [] }
        let (clear, duration, isKey, boxes) = try media {
            () throws(CommonEncryptionError) -> ([UInt8], Double, Bool, Int) in
            (
                try film?.encryptor.clear(fragment) ?? [], try film?.timing.duration(of: fragment) ?? 0,
                try film?.encryptor.beginsAtKeyFrame(fragment) ?? false,
                try MovieTiming.boxCount(of: encrypted)
            )
        }
        let isLong =
            pendingDuration >= segmentDuration || pendingBoxes >= Self.usualBoxes
            || pending.count >= PlayableContainer.maxSegmentSize / 2
        let isFull =
            pending.count + encrypted.count > PlayableContainer.maxSegmentSize || pendingBoxes + boxes > Self.maxBoxes
        if isFull || isLong && isKey { try closeSegment() }
        // A segment that has to begin elsewhere, and a film that does.
        if pending.isEmpty, !isKey { isIndependent = false }
        do throws(CryptoError) {
            if pendingDigest == nil { pendingDigest = try RunningSHA256() }
            try pendingDigest?.update(clear[...])
        } catch {
            throw Self.failure(error)
        }
        pending += encrypted
        pendingDuration += duration
        pendingBoxes += boxes
    }

    private func closeSegment() throws(ArchiveError) {
        guard !pending.isEmpty else { return }
        guard segments.count < PlayableContainer.maxSegments else {
            throw .playable(.tooLong(limit: PlayableContainer.maxSegments))
        }
        guard pending.count <= PlayableContainer.maxSegmentSize else {
            throw .playable(
                .filmPart(
                    "a fragment", count: Int64(pending.count), limit: PlayableContainer.maxSegmentSize))
        }
        let name = PlayableContainer.segmentName(segments.count)
        try add(name, pending)
        if let digest = pendingDigest.take() {
            do throws(CryptoError) { clearDigests.append(try digest.value()) } catch { throw Self.failure(error) }
        }
        // Longer than a day is no duration of a fragment, but what a damaged one says.
        segments.append(.init(name: name, duration: Int((min(pendingDuration, 86_400) * 1000).rounded())))
        pending.removeAll(keepingCapacity: true)
        pendingDuration = 0
        pendingBoxes = 0
    }

    private func add(_ name: String, _ bytes: [UInt8]) throws(ArchiveError) {
        hashes[name] = Digest.sha256(bytes)
        let checksum = CRC32(bytes).value
        entries.append(ZIPEntry(name: name, size: Int64(bytes.count), crc32: checksum, offset: file.size))
        do throws(FileFailure) {
            try file.append(PlayableContainer.header(name: name, size: bytes.count, crc32: checksum)[...])
            try file.append(bytes[...])
        } catch {
            throw .output(error)
        }
    }

    /// Ends the archive, reads it again, decrypts it, compares that with the film that came, and gives the file its name.
    ///
    /// - Parameters:
    ///   - time: when the archive was made, in seconds since 1970.
    ///   - replaces: a file that has that name.
    public func finish(
        at time: Int64, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        precondition(!isFinished, "finished twice: the caller's fault")
        isFinished = true
        try media { () throws(CommonEncryptionError) in try splitter.finish() }
        try closeSegment()
        guard !segments.isEmpty else { throw .playable(.noFilm) }
        let playlist = MediaPlaylist(
            assetID: assetID, initName: PlayableContainer.initName, segments: segments,
            isIndependent: isIndependent)
        try add(PlayableContainer.playlistName, playlist.encoded())
        let protectedAt = Date(timeIntervalSince1970: Double(time)).formatted(.iso8601)
        let metadata = PlayableMetadata(
            assetID: assetID, segmentCount: segments.count, protectedAt: protectedAt, hashes: hashes)
        let manifest: [UInt8]
        do throws(TDFError) {
            let text = Base64.encode(try ManifestJSON.encode(value: metadata))
            let signature: [UInt8]
            do throws(TDFCryptoError) { signature = try key.metadataSignature(text) } catch { throw .crypto(error) }
            manifest = try ManifestJSON.encode(
                value: PlayableManifest(
                    envelope: envelope, metadata: text, signature: signature, iv: iv,
                    meta: .init(assetId: assetID, protectedAt: protectedAt)))
        } catch {
            throw .format(error)
        }
        try add(PlayableContainer.manifestName, manifest)
        do throws(FileFailure) {
            try file.append(PlayableContainer.trailer(entries, offset: file.size)[...])
        } catch {
            throw .output(error)
        }
        do throws(ArchiveError) {
            try readBack(progress)
        } catch {
            switch error {
            case .format(let fault): throw .readBack(fault)
            case .playable(.readBack(_)): throw error
            case .playable(let fault): throw .playable(.readBack("\(fault)"))
            default: throw error
            }
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }

    /// Whether the file becomes the film again, with the policy and the list of files that its key vouches for.
    private func readBack(_ progress: ArchiveProgress) throws(ArchiveError) {
        let reader = try PlayableArchiveReader(file.temporary)
        let opened = try reader.opened(key)
        let inspector = try reader.inspector()
        var count = CBCSInspector.Count()
        let differs = ArchiveError.playable(.readBack("it does not become the film again"))
        guard opened.initSegment == film?.encryptor.clearInitSegment, reader.segments.count == clearDigests.count
        else { throw differs }
        var done: Int64 = 0
        for (name, digest) in zip(reader.segments, clearDigests) {
            try progress(done)
            let bytes = try reader.segment(name)
            try reader.inspect(bytes, name, inspector, &count)
            guard Digest.sha256(try opened.decrypted(bytes, name)) == digest else { throw differs }
            done += Int64(bytes.count)
        }
    }

    private static func failure(_ error: CryptoError) -> ArchiveError {
        .format(.crypto(.libraryFailed(call: "SHA-256: \(error)")))
    }

    private func media<R>(
        _ body: () throws(CommonEncryptionError) -> R
    ) throws(ArchiveError) -> R {
        do throws(CommonEncryptionError) { return try body() } catch { throw .playable(.media(error, file: nil)) }
    }
}
