internal import Platform

/// A file, or a part of one that is a file by itself, as a recording in a binder is.
public struct FilePart: Sendable {
    private let file: RandomAccessFile
    private let range: Range<Int64>

    public init(_ path: String) throws(ArchiveError) {
        do throws(RandomAccessFile.Failure) { file = try RandomAccessFile(path) } catch { throw .input(error) }
        range = 0..<file.size
    }

    private init(_ file: RandomAccessFile, _ range: Range<Int64>) {
        self.file = file
        self.range = range
    }

    /// Bytes.
    public var size: Int64 { range.upperBound - range.lowerBound }

    /// - Parameter part: lies within ``size``.
    func part(_ part: Range<Int64>) -> FilePart {
        precondition(part.lowerBound >= 0 && part.upperBound <= size, "outside of the file: the caller's fault")
        return FilePart(file, (range.lowerBound + part.lowerBound)..<(range.lowerBound + part.upperBound))
    }

    /// All bytes of `part`, which lies within ``size``.
    func read(_ part: Range<Int64>) throws(ArchiveError) -> [UInt8] {
        precondition(part.lowerBound >= 0 && part.upperBound <= size, "outside of the file: the caller's fault")
        do throws(RandomAccessFile.Failure) {
            return try file.read((range.lowerBound + part.lowerBound)..<(range.lowerBound + part.upperBound))
        } catch {
            throw .input(error)
        }
    }

    /// All of it, piece by piece.
    ///
    /// - Parameter body: is given each piece, and where it begins.
    func forEachPiece(_ body: (ArraySlice<UInt8>, Int64) throws(ArchiveError) -> Void) throws(ArchiveError) {
        var offset: Int64 = 0
        while offset < size {
            let end = min(offset + Self.pieceSize, size)
            try body(try read(offset..<end)[...], offset)
            offset = end
        }
    }

    private static let pieceSize: Int64 = 1 << 20
}
