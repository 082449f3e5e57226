internal import Glibc

/// A file that grows; whole writes or an error.
final class AppendFile {
    private let path: String
    private let descriptor: CInt

    /// Creates or empties the file, readable by its owner only: what is opened was sealed for a reason.
    init(path: String) throws(ViewerError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(path) }
    }

    deinit {
        close(descriptor)
    }

    func write(_ bytes: [UInt8]) throws(ViewerError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                throw Self.error(path)
            }
        }
    }

    private static func error(_ path: String) -> ViewerError {
        .output("\(path): \(String(cString: strerror(errno)))")
    }
}
