internal import Glibc
internal import MediaFile
internal import Platform

/// A file that grows; whole writes or an error.
final class AppendFile {
    private let path: String
    private let descriptor: CInt

    private let abandonment = WriteAbandonment()

    /// Callable from any thread: the path may be that of a pipe, and a reader that takes nothing is given up.
    var abandon: @Sendable () -> Void { { [abandonment] in abandonment.request() } }

    /// Creates or empties the file, readable by its owner only: what is opened was sealed for a reason.
    init(path: String) throws(ViewerError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(path) }
    }

    deinit {
        close(descriptor)
    }

    /// What a pipe's reader that has gone or was given up does not take, is nobody's loss.
    func write(_ bytes: [UInt8]) throws(ViewerError) {
        let code = abandonment.write(bytes, to: descriptor)
        guard code == 0 || code == EPIPE || code == ECANCELED else { throw Self.error(path, code) }
    }

    private static func error(_ path: String, _ code: CInt = errno) -> ViewerError {
        .output("\(path): \(SystemMessage.text(code))")
    }
}
