internal import Platform
internal import TDF

/// An archive whose policy and list of segments are verified, and whose content can be had.
public struct OpenedArchive: Sendable {
    private let reader: ArchiveReader
    private let opener: TDFOpener

    init(reader: ArchiveReader, opener: TDFOpener) {
        self.reader = reader
        self.opener = opener
    }

    /// Bytes of plaintext.
    public var size: Int64 { opener.map.clearSize }

    /// Opens the segments that hold a part of the content, and no others.
    ///
    /// - Parameters:
    ///   - part: bytes of the plaintext; nil: all of it. What lies behind the end is not there.
    ///   - output: is given the plaintext of one verified segment after the other. What it was given before an error was
    ///     verified, and may be less than what was asked for.
    public func read(
        _ part: Range<Int64>? = nil, progress: ArchiveProgress = { (_) throws(ArchiveError) in },
        output: (ArraySlice<UInt8>) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        let map = opener.map
        // Empty segments too where all is read: each of them has to verify.
        for index in part.map(map.segments(covering:)) ?? 0..<map.count {
            let range = map.clearRange(of: index)
            try progress(range.lowerBound)
            let bytes = try reader.segment(index)
            let plaintext = try ArchiveReader.format { () throws(TDFError) in try opener.open(index, bytes[...]) }
            let wanted = (part ?? range).clamped(to: range)
            try output(plaintext[Int(wanted.lowerBound - range.lowerBound)..<Int(wanted.upperBound - range.lowerBound)])
        }
    }

    /// Writes the content into a file, which has its name when all of it was verified.
    ///
    /// - Parameter replaces: a file that has that name.
    public func export(
        to path: String, replaces: Bool = false, progress: ArchiveProgress = { (_) throws(ArchiveError) in }
    ) throws(ArchiveError) {
        let file = try Self.output { () throws(FileFailure) in try UnfinishedFile(path) }
        try read(progress: progress) { (bytes) throws(ArchiveError) in
            try Self.output { () throws(FileFailure) in try file.append(bytes) }
        }
        try Self.output { () throws(FileFailure) in try file.finish(replaces: replaces) }
    }

    private static func output<R>(_ body: () throws(FileFailure) -> R) throws(ArchiveError) -> R {
        do { return try body() } catch { throw .output(error) }
    }

    /// Opens every segment, and keeps nothing of it.
    public func verify(progress: ArchiveProgress = { (_) throws(ArchiveError) in }) throws(ArchiveError) {
        try read(progress: progress) { (_) throws(ArchiveError) in }
    }
}
