internal import CommonEncryption
internal import Cryptography
public import KeyAccess
public import NanoTDF
internal import Platform
public import TDF
internal import TDFCryptography
internal import Wire

/// An archive of profile P in a file: memory holds the manifest, and one of its files at a time.
public struct PlayableArchiveReader: Sendable {
    public let manifest: PlayableManifest
    public let metadata: PlayableMetadata
    public let playlist: MediaPlaylist
    /// Bytes of the file.
    public var size: Int64 { files.size }
    /// Bytes of the film's files together.
    public var mediaSize: Int64 {
        segments.reduce(Int64(initSegment.count)) { sum, name in
            sum + (files.entries[name].map { Int64($0.data.count) } ?? 0)
        }
    }

    private let files: PlayableArchiveFiles
    private let hashes: [String: [UInt8]]
    /// `ftyp` and `moov`, encrypted.
    let initSegment: [UInt8]

    /// The names of the segments, in the order of the film.
    var segments: [String] { metadata.segmentFilenames }

    /// Whether a file is meant to be one: it has the playlist that only archives of profile P have, and of which the reader wants this name.
    public static func isMeant(by path: String) -> Bool {
        guard let files = try? PlayableArchiveFiles(path) else { return false }
        return files.entries[PlayableContainer.playlistName] != nil
            && files.entries[TDFContainer.payloadName] == nil
    }

    /// Reads manifest, metadata, playlist and initialization segment. What it refuses is listed in docs/ref/archive-format.md.
    public init(_ path: String) throws(ArchiveError) {
        let files = try PlayableArchiveFiles(path)
        let json = try files.read(PlayableContainer.manifestName)
        do throws(TDFError) {
            manifest = try ManifestJSON.decode(PlayableManifest.self, json)
            metadata = try ManifestJSON.decode(PlayableMetadata.self, try manifest.metadataJSON())
            hashes = try metadata.hashes()
        } catch {
            throw .format(error)
        }
        self.files = files
        let listed = Set(metadata.files + [PlayableContainer.manifestName])
        if let stranger = listed.symmetricDifference(files.entries.keys).min() {
            throw .playable(.fileList(ShownText.ascii(stranger, limit: 40, replacing: "?")))
        }
        let text = try Self.read(metadata.playlistFilename, files, hashes)
        do throws(MediaPlaylist.Fault) {
            playlist = try MediaPlaylist.parse(text)
        } catch {
            throw .playable(.playlist(error))
        }
        guard playlist.initName == metadata.initFilename, playlist.segments.map(\.name) == metadata.segmentFilenames,
            playlist.keyURI == MediaPlaylist.keyURI(metadata.assetId)
        else { throw .playable(.playlistDiffers) }
        initSegment = try Self.read(metadata.initFilename, files, hashes)
    }

    private static func read(
        _ name: String, _ files: PlayableArchiveFiles, _ hashes: [String: [UInt8]]
    ) throws(ArchiveError) -> [UInt8] {
        let bytes = try files.read(name)
        guard let hash = hashes[name], hash == Digest.sha256(bytes) else { throw .playable(.fileHash(name)) }
        return bytes
    }

    /// A segment, as it is in the file, when its hash is the one that the metadata list.
    func segment(_ name: String) throws(ArchiveError) -> [UInt8] { try Self.read(name, files, hashes) }

    /// Who may have the key, as the manifest says; nil when it says nothing, or cannot be read. Verified in an ``OpenedPlayableArchive`` alone.
    public var policy: AccessPolicy? { manifest.encryptionInformation.policy.flatMap(ManifestJSON.policy) }

    /// What can be verified without a key: that each file has the hash that the metadata list. It notices accidents; somebody who changed the
    /// metadata as well is noticed with the key alone.
    public func verifyStructure(
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        var done: Int64 = 0
        for name in segments {
            try progress(done)
            done += Int64(try segment(name).count)
        }
    }

    /// The archive with its key.
    ///
    /// - Parameter index: of the entry of `keyAccess` that the key came from.
    /// - Throws: when policy binding or signature do not verify, which another archive's key leads to as well.
    public func opened(
        _ content: ContentKey, fromKeyAccess index: Int = 0
    ) throws(ArchiveError) -> OpenedPlayableArchive {
        let key: PlayableKey
        do throws(TDFCryptoError) { key = try PlayableKey.opening(content) } catch { throw .format(.crypto(error)) }
        return try opened(key, fromKeyAccess: index)
    }

    /// The same with a key that is set up already.
    func opened(_ key: PlayableKey, fromKeyAccess index: Int = 0) throws(ArchiveError) -> OpenedPlayableArchive {
        let encryption = manifest.encryptionInformation
        precondition(encryption.keyAccess.indices.contains(index), "no such entry: the caller's fault")
        let text = encryption.keyAccess[0].encryptedMetadata ?? ""
        let binding: [UInt8]
        let signature: [UInt8]
        do throws(TDFCryptoError) {
            binding = try key.policyBinding(encryption.policy ?? "")
            signature = try key.metadataSignature(text)
        } catch {
            throw .format(.crypto(error))
        }
        guard Self.holds(encryption.keyAccess[index].policyBinding?.hash, binding) else {
            throw .format(.policyBinding)
        }
        let found = encryption.integrityInformation.flatMap { try? Base64.decode($0.rootSignature.signature) }
        guard constantTimeEqual(signature, found ?? []) else { throw .format(.rootSignature) }
        do throws(CommonEncryptionError) {
            let decryptor = try CBCSDecryptor(initSegment: initSegment, cipher: key.cipher)
            return OpenedPlayableArchive(reader: self, decryptor: decryptor)
        } catch {
            throw .playable(.media(error, file: metadata.initFilename))
        }
    }

    /// What looks at the boxes, beginning with those of the initialization segment.
    func inspector() throws(ArchiveError) -> CBCSInspector {
        do throws(CommonEncryptionError) { return try CBCSInspector(initSegment: initSegment) } catch {
            throw .playable(.media(error, file: metadata.initFilename))
        }
    }

    /// - Parameter name: of the segment that `bytes` are.
    func inspect(
        _ bytes: [UInt8], _ name: String, _ inspector: CBCSInspector, _ count: inout CBCSInspector.Count
    ) throws(ArchiveError) {
        do throws(CommonEncryptionError) { try inspector.add(bytes, to: &count) } catch {
            throw .playable(.media(error, file: name))
        }
    }

    /// Base64 of the hexadecimal digits, as in other profiles, or of the 32 bytes.
    private static func holds(_ text: String?, _ expected: [UInt8]) -> Bool {
        guard let text, text.utf8.count <= 128, let found = try? Base64.decode(text) else { return false }
        let isRaw = constantTimeEqual(found, expected)
        return constantTimeEqual(found, Array(Hexadecimal.encode(expected).utf8)) || isRaw
    }
}
