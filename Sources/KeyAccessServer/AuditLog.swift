internal import Glibc
internal import Logging
internal import Synchronization

/// One line of the audit log: who asked for which key, and what was decided. Holds no key material and no token.
struct AuditEntry: Encodable, Equatable {
    enum Event: String, Encodable {
        case rewrap, register, refused
    }

    /// Unix seconds.
    var time: Int64
    var event: Event
    var address: String
    var subject: String?
    var client: String?
    /// The KAS key that was used (S16).
    var kid: String?
    var policy: String?
    var headerSha256: String?
    var stream: String?
    /// `permit` or `deny`.
    var decision: String
    var reason: String?
}

/// Writes audit entries as JSON lines, to a file or through the logger.
final class AuditLog: Sendable {
    private let path: String?
    private let logger: Logger
    private let file: Mutex<(descriptor: Int32, inode: UInt64)>

    /// Opens the file, so that a wrong path stops the start and not the first request.
    init(path: String?, logger: Logger) throws(StateDirectoryError) {
        self.path = path
        self.logger = logger
        file = Mutex((-1, 0))
        guard let path else { return }
        let opened = try Self.open(path)
        file.withLock { $0 = opened }
    }

    deinit {
        file.withLock { if $0.descriptor >= 0 { close($0.descriptor) } }
    }

    func write(_ entry: AuditEntry) {
        guard let line = try? JSONCoding.encode(entry) else { return }
        guard let path else {
            logger.info("audit \(String(decoding: line, as: UTF8.self))")
            return
        }
        let isWritten = file.withLock { file in
            // logrotate moves the file away; its name then leads to another inode or to none.
            var status = stat()
            if stat(path, &status) != 0 || UInt64(status.st_ino) != file.inode {
                guard let opened = try? Self.open(path) else { return false }
                close(file.descriptor)
                file = opened
            }
            let bytes = line + [UInt8(ascii: "\n")]
            return bytes.withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress, $0.count) } == bytes.count
        }
        if !isWritten { logger.error("The audit log \(path) can't be written: \(String(cString: strerror(errno)))") }
    }

    private static func open(_ path: String) throws(StateDirectoryError) -> (Int32, UInt64) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw .system(call: "open", path: path, code: errno)
        }
        return (descriptor, UInt64(status.st_ino))
    }
}
