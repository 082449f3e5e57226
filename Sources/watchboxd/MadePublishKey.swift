import Console
import Glibc

/// The publish key that a relay makes for itself when other machines reach it and nobody gave it any.
enum MadePublishKey {
    /// The path of the file of keys in the state directory; it is made on the first call, with one key for all streams,
    /// for its owner's eyes only.
    static func file(in state: String) throws(CommandFailure) -> String {
        let path = state + "/publish-keys"
        guard access(path, F_OK) != 0 else { return path }
        var generator = SystemRandomNumberGenerator()
        let key = (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }
        // Whole or not at all: a relay that is killed here must not find half a key later.
        let draft = path + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        let line = Array("* = \(key.joined())\n".utf8)
        let isWritten = write(descriptor, line, line.count) == line.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(draft, path) == 0 else { throw failure(path) }
        // Cameras are given this key: it must be there after a power cut as well.
        let folder = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return path
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure(
            what: "the relay does not run", why: "\(path) cannot be written: \(String(cString: strerror(errno)))",
            next: "check the state directory, or give the relay a file of publish keys", status: .invalidConfiguration)
    }
}
