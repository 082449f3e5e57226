internal import Compression
internal import Cryptography
internal import Platform
internal import TDF
internal import Wire

/// Binds recordings into one ZIP file, each as it is, with an index of them: no key is needed for that. Memory holds a piece of one of them, and
/// what the index says of each. The file has its name when it is whole; letting go before leaves nothing behind.
public final class BinderWriter {
    private let file: UnfinishedFile
    private var entries: [ZIPEntry] = []
    private var recordings: [BinderIndex.Recording] = []

    /// - Parameter path: of the binder. Written beside it at first.
    public init(_ path: String) throws(ArchiveError) {
        do throws(FileFailure) { file = try UnfinishedFile(path) } catch { throw .output(error) }
    }

    /// Appends a recording, byte for byte, after it was read once to see that it is whole.
    ///
    /// - Parameters:
    ///   - name: behind that of the one before.
    ///   - progress: bytes of this one, up to twice its size.
    /// - Throws: when a segment has not the hash that its manifest lists, or the payload another checksum.
    public func add(
        _ name: RecordingName, _ archive: ArchiveReader,
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        // Nobody notices later which copy is the damaged one, and the first is not kept for ever.
        try archive.verifyStructure(progress: progress)
        let begin = file.size
        let size = archive.size
        try append(BinderContainer.header(name: name.fileName, size: 0, crc32: 0)[...])
        var checksum = CRC32()
        let hash = try Self.hash(of: archive.file) { (bytes, offset) throws(ArchiveError) in
            try progress(size &+ offset)
            checksum.update(bytes)
            try append(bytes)
        }
        let header = BinderContainer.header(name: name.fileName, size: size, crc32: checksum.value)
        do throws(FileFailure) { try file.overwrite(header, at: begin) } catch { throw .output(error) }
        entries.append(ZIPEntry(name: name.fileName, size: size, crc32: checksum.value, offset: begin))
        recordings.append(BinderIndex.Recording(name, bytes: size, sha256: hash))
    }

    /// Ends the binder, reads it again, and gives the file its name.
    ///
    /// - Parameters:
    ///   - from: the time that was asked for, in milliseconds since 1970, as `to`.
    ///   - replaces: a file that has that name.
    ///   - progress: bytes that were read again.
    public func finish(
        camera: String, from: Int64, to: Int64, replaces: Bool = false,
        progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        let index = BinderIndex(camera: camera, from: from, to: to, recordings: recordings)
        let trailer = try ArchiveReader.format { () throws(TDFError) in
            let json = try ManifestJSON.encode(value: index)
            return try BinderContainer.trailer(
                entries, offset: file.size, index: json, indexCRC32: CRC32(json).value)
        }
        try append(trailer[...])
        do throws(ArchiveError) {
            let binder = try BinderReader(file.temporary)
            for recording in binder.recordings {
                try recording.verifyBytes { (done) throws(ArchiveError) in try progress(recording.offset + done) }
            }
        } catch {
            guard case .format(let fault) = error else { throw error }
            throw .readBack(fault)
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }

    private func append(_ bytes: ArraySlice<UInt8>) throws(ArchiveError) {
        do throws(FileFailure) { try file.append(bytes) } catch { throw .output(error) }
    }

    /// SHA-256 of a file.
    ///
    /// - Parameter body: is given each piece as well.
    static func hash(
        of file: FilePart, _ body: (ArraySlice<UInt8>, Int64) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> [UInt8] {
        var digest = try crypto { () throws(CryptoError) in try RunningSHA256() }
        try file.forEachPiece { (bytes, offset) throws(ArchiveError) in
            try body(bytes, offset)
            try crypto { () throws(CryptoError) in try digest.update(bytes) }
        }
        do throws(CryptoError) { return try digest.value() } catch { throw failure(error) }
    }

    private static func crypto<R: ~Copyable>(_ body: () throws(CryptoError) -> R) throws(ArchiveError) -> R {
        do throws(CryptoError) { return try body() } catch { throw failure(error) }
    }

    private static func failure(_ error: CryptoError) -> ArchiveError {
        .format(.crypto(.libraryFailed(call: "SHA-256: \(error)")))
    }
}
