internal import CommonEncryption
internal import Platform

/// An archive of profile P whose policy and metadata are verified, and whose film can be had in clear.
public struct OpenedPlayableArchive: Sendable {
    private let reader: PlayableArchiveReader
    private let decryptor: CBCSDecryptor

    /// `ftyp` and `moov`, in clear.
    var initSegment: [UInt8] { decryptor.initSegment }

    init(reader: PlayableArchiveReader, decryptor: CBCSDecryptor) {
        self.reader = reader
        self.decryptor = decryptor
    }

    /// The film as a fragmented MP4, segment by segment.
    ///
    /// - Parameter output: is given what belongs to one verified file after the other.
    public func read(
        progress: ArchiveProgress = { (_) throws(ArchiveError) in },
        output: (ArraySlice<UInt8>) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        var done: Int64 = 0
        try output(decryptor.initSegment[...])
        for name in reader.segments {
            let bytes = try reader.segment(name)
            let clear = try decrypted(bytes, name)
            try progress(done)
            try output(clear[...])
            done += Int64(bytes.count)
        }
    }

    /// - Parameter name: of the segment that `bytes` are.
    func decrypted(_ bytes: [UInt8], _ name: String) throws(ArchiveError) -> [UInt8] {
        do throws(CommonEncryptionError) { return try decryptor.decrypt(bytes) } catch {
            throw .playable(.media(error, file: name))
        }
    }

    /// Writes the film into a file, which has its name when all of it was verified.
    ///
    /// - Parameter replaces: a file that has that name.
    public func export(
        to path: String, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        let file: UnfinishedFile
        do throws(FileFailure) { file = try UnfinishedFile(path) } catch { throw .output(error) }
        try read(progress: progress) { (bytes) throws(ArchiveError) in
            do throws(FileFailure) { try file.append(bytes) } catch { throw .output(error) }
        }
        do throws(FileFailure) { try file.finish(replaces: replaces) } catch { throw .output(error) }
    }
}
