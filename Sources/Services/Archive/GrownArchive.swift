internal import Compression
internal import Platform
internal import TDF

/// An archive that grows, as far as it is written: what its journal lists is read as the archive that would end there, and verifies
/// like any other. Nothing of it is changed, and no lock is taken.
///
/// The journal is read once, the other file stays open, and what a journal lists is never written again: so this stays what it is
/// while more comes, and when the archive gets its end and its name.
public struct GrownArchive: Sendable {
    /// Of the file that grows.
    public let path: String
    public let reader: ArchiveReader
    /// When its first frame was captured, in milliseconds since 1970, as this machine's clock said; within the years that names of
    /// recordings have.
    public let begin: Int64
    /// Of its media, in milliseconds.
    public let duration: UInt32

    /// When its media end, in milliseconds since 1970.
    public var end: Int64 { begin + Int64(duration) }

    /// - Parameter path: of the file that grows, `NAME.part`; the journal is beside it.
    /// - Returns: nil when nothing of it is whole yet, or that is no name of one.
    /// - Throws: `.input` with `isMissing` when one of both files is not there, such as of an archive that has just got its name.
    public init?(_ path: String) throws(ArchiveError) {
        guard path.hasSuffix(GrowingArchive.partSuffix) else { return nil }
        let journal = try FilePart(path.dropLast(GrowingArchive.partSuffix.count) + GrowingArchive.journalSuffix)
        let bytes = try journal.read(0..<min(journal.size, Int64(ArchiveJournal.maxSize)))
        guard let (json, entries) = ArchiveJournal.read(bytes, checksum: { CRC32($0).value }), !entries.isEmpty else {
            return nil
        }
        let head = try ArchiveReader.format { () throws(TDFError) in
            try ManifestJSON.decode(GrowingArchive.Head.self, json)
        }
        // Behind the journal: a segment is written before its entry, so all that the journal lists is there.
        let part = try FilePart(path)
        var content = GrowingArchive.Content(head)
        for entry in entries {
            // A power cut may have left less.
            guard content.end + Int64(entry.segment.entry.encryptedSize) <= part.size else { break }
            content.append(entry)
        }
        guard let last = content.last else { return nil }
        self.path = path
        reader = try ArchiveReader(
            growing: part.part(0..<content.end),
            head.manifest(content.segments, rootSignature: last.segment.rootSignature), crc32: last.payloadCRC32)
        let name = RecordingName(sequence: 0, begin: head.begin, duration: last.duration)
        begin = name.begin
        duration = name.duration
    }
}

extension RecordingDirectory {
    /// The recording of this number that grows, as far as it is written.
    ///
    /// - Returns: nil when nothing of it is whole yet.
    /// - Throws: `.input` with `isMissing` when it grows no more: it has its name now.
    public func grown(_ sequence: UInt64) throws(ArchiveError) -> GrownArchive? {
        try GrownArchive("\(path)/\(RecordingName.stem(sequence))\(GrowingArchive.partSuffix)")
    }
}

extension ArchiveError {
    /// There is no such file.
    public var isMissing: Bool {
        if case .input(.system(let failure)) = self { failure.isMissing } else { false }
    }
}
