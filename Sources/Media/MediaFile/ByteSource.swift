public import Media

/// Bytes that a container is read from, at any place: a file, or the content of something that is opened piece by piece. Used by one thread at
/// a time.
public protocol ByteSource: AnyObject {
    /// Bytes.
    var size: Int64 { get }

    /// Some of the bytes of `range`, from its beginning: at least one, so that nobody has to hold more than it reads at once.
    ///
    /// - Parameter range: not empty, and within ``size``.
    func read(_ range: Range<Int64>) throws(MediaSourceError) -> ArraySlice<UInt8>
}

/// A file as such a source.
final class FileBytes: ByteSource {
    let size: Int64
    private let file: FileReader

    init(path: String) throws(MediaSourceError) {
        file = try FileReader(path: path)
        size = file.size
    }

    func read(_ range: Range<Int64>) throws(MediaSourceError) -> ArraySlice<UInt8> {
        try file.read(Int(range.count), at: range.lowerBound)[...]
    }
}
