internal import Glibc

/// A plain file that is read from any place, for files that are larger than memory.
public final class RandomAccessFile: Sendable {
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case system(FileFailure)
        /// A directory, a pipe, a device.
        case notAFile(path: String)
        /// It became shorter while it was read.
        case cut(path: String)

        public var description: String {
            switch self {
            case .system(let failure): "\(failure.path): \(failure.reason)"
            case .notAFile(let path): "\(path): it is no plain file"
            case .cut(let path): "\(path): it became shorter while it was read"
            }
        }
    }

    public let path: String
    /// Bytes, when it was opened.
    public let size: Int64

    private let descriptor: CInt

    public init(_ path: String) throws(Failure) {
        self.path = path
        // Not blocking: a FIFO in place of a file must not block the caller.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(FileFailure(call: "open", path: path, number: errno)) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw .system(FileFailure(call: "fstat", path: path, number: number))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notAFile(path: path)
        }
        self.descriptor = descriptor
        size = Int64(status.st_size)
    }

    deinit { close(descriptor) }

    /// All bytes of `range`, which lies within ``size``.
    public func read(_ range: Range<Int64>) throws(Failure) -> [UInt8] {
        precondition(range.lowerBound >= 0 && range.upperBound <= size, "outside of the file: the caller's fault")
        var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, $0.count - filled, off_t(range.lowerBound) + off_t(filled))
            }
            if count == 0 { throw .cut(path: path) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(FileFailure(call: "pread", path: path, number: errno))
            }
            filled += count
        }
        return bytes
    }
}
