internal import Glibc
internal import Logging
internal import Platform
internal import Synchronization
internal import Wire

/// One line of the audit log: who asked for which key, and what was decided. Holds no key material and no token.
struct AuditEntry: Encodable, Equatable {
    enum Event: String, Encodable {
        case rewrap, register, refused, renew, narrow
    }

    /// Unix seconds.
    var time: Int64
    var event: Event
    var address: String
    var subject: String?
    var client: String?
    /// The KAS key that was used.
    var kid: String?
    var policy: String?
    var headerSha256: String?
    var stream: String?
    /// `permit` or `deny`.
    var decision: String
    var reason: String?
    /// Refusals of the same subject and network for the same reason since the line before that got no line of their own.
    var leftOut: Int?
    /// Times within the last minute when the same subject of the same network was given the same key again.
    var repeats: Int?
}

/// Writes audit entries as JSON lines, to a file or through the logger.
///
/// Every key that is given has its line; that it was given again within a minute is counted (`PermitMemory`). Of refusals
/// there may be any number, so they are thinned out.
final class AuditLog: Sendable {
    private struct File {
        var descriptor: Int32 = -1
        var inode: UInt64 = 0
        /// The last line was cut off, for want of space.
        var isHalfWritten = false
        /// The last line could not be written, and the log says so already.
        var isFailing = false
    }

    private let path: String?
    private let logger: Logger
    private let file: Mutex<File>
    private let refusals = Mutex(RefusalThrottle())
    private let permits = Mutex(PermitMemory())

    /// Opens the file, so that a wrong path stops the start and not the first request.
    init(path: String?, logger: Logger) throws(StateDirectoryError) {
        self.path = path
        self.logger = logger
        file = Mutex(File())
        guard let path else { return }
        let opened = try Self.open(path)
        file.withLock { ($0.descriptor, $0.inode) = opened }
    }

    deinit {
        file.withLock { if $0.descriptor >= 0 { close($0.descriptor) } }
    }

    /// - Returns: false when the line of a permission could not be written: what it permits must not be given then.
    @discardableResult
    func write(_ entry: AuditEntry) -> Bool {
        var entry = entry
        // What a client chose: a line has a bound.
        entry.policy = entry.policy.map { Self.cut($0, 128) }
        entry.stream = entry.stream.map { Self.cut($0, 256) }
        entry.client = entry.client.map { Self.cut($0, 256) }
        guard entry.decision == "deny" else {
            return entry.event == .rewrap && entry.headerSha256 != nil ? permit(entry) : append(entry)
        }
        guard let leftOut = refusals.withLock({ $0.count(Self.key(entry), entry, now: entry.time) }) else {
            return true
        }
        entry.leftOut = leftOut > 0 ? leftOut : nil
        return append(entry)
    }

    private func permit(_ entry: AuditEntry) -> Bool {
        let key = Self.key(entry) + " \(entry.kid ?? "") \(entry.headerSha256 ?? "")"
        guard let repeats = permits.withLock({ $0.asked(key, now: entry.time) }) else { return true }
        var line = entry
        line.repeats = repeats > 0 ? repeats : nil
        guard append(line) else { return false }
        permits.withLock { $0.reported(key, entry, now: entry.time) }
        return true
    }

    /// - Parameter limit: bytes.
    private static func cut(_ text: String, _ limit: Int) -> String {
        text.utf8.count <= limit ? text : String(decoding: text.utf8.prefix(limit), as: UTF8.self)
    }

    /// Logs what was left out and not logged since; to be called every few seconds.
    func settle(now: Int64) {
        for entry in refusals.withLock({ $0.settle(now: now) }) { append(entry) }
        for entry in permits.withLock({ $0.settle(now: now) }) { append(entry) }
    }

    private static func key(_ entry: AuditEntry) -> String {
        "\(NetworkAddress.share(ofClient: entry.address)) \(entry.reason ?? "") \(entry.subject ?? "")"
    }

    @discardableResult
    private func append(_ entry: AuditEntry) -> Bool {
        guard let line = try? JSONCoding.encode(entry) else { return false }
        guard let path else {
            logger.info("audit \(String(decoding: line, as: UTF8.self))")
            return true
        }
        let (isWritten, problem) = file.withLock { file -> (Bool, Int32?) in
            let isWritten = Self.append(line, to: &file, path: path)
            defer { file.isFailing = !isWritten }
            return (isWritten, isWritten || file.isFailing ? nil : errno)
        }
        if let problem {
            logger.error(
                "The audit log \(path) can't be written, so no key is given: \(SystemMessage.text(problem))")
        }
        return isWritten
    }

    /// False with `errno`.
    private static func append(_ line: [UInt8], to file: inout File, path: String) -> Bool {
        // logrotate moves the file away; its name then leads to another inode or to none.
        var status = stat()
        if stat(path, &status) != 0 || UInt64(status.st_ino) != file.inode {
            guard let opened = try? Self.open(path) else { return false }
            close(file.descriptor)
            file = File(descriptor: opened.0, inode: opened.1)
        }
        let bytes = (file.isHalfWritten ? [UInt8(ascii: "\n")] : []) + line + [UInt8(ascii: "\n")]
        let count = bytes.withUnsafeBytes { Glibc.write(file.descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { return false }
        file.isHalfWritten = count < bytes.count
        if file.isHalfWritten { errno = ENOSPC }
        return !file.isHalfWritten
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
