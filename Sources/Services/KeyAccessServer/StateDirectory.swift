internal import Glibc
internal import NIOConcurrencyHelpers
internal import Platform

/// Why the directory of keys can't be used. The description says what to do next.
public enum StateDirectoryError: Error, Equatable, Sendable {
    /// A call of the C library failed.
    case system(call: String, path: String, code: Int32)
    /// Group or others may do something with it.
    case permissionsTooWide(path: String, mode: UInt32, expected: UInt32)
    case wrongOwner(path: String)
    /// A symbolic link, a device, or a directory where a file belongs.
    case wrongKind(path: String)
    case tooLarge(path: String, limit: Int)
    /// The file's content isn't what this program wrote.
    case damaged(path: String, what: String)
}

extension StateDirectoryError {
    init(_ failure: FileFailure) {
        self = .system(call: failure.call, path: failure.path, code: failure.number)
    }

    /// Of reading a file.
    init(_ failure: SmallFile.Failure, path: String) {
        switch failure {
        case .missing: self = .system(call: "open", path: path, code: ENOENT)
        case .refused(let number): self = .system(call: "read", path: path, code: number)
        case .tooLong(let limit): self = .tooLarge(path: path, limit: limit)
        }
    }
}

extension StateDirectoryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .system(let call, let path, let code):
            "\(call) failed for \(path): \(SystemMessage.text(code))."
        case .permissionsTooWide(let path, let mode, let expected):
            "\(path) has permissions \(Self.octal(mode)), wider than \(Self.octal(expected)): others could read the "
                + "keys. Run: chmod \(Self.octal(expected)) \(path) — and replace the keys if someone may have."
        case .wrongOwner(let path):
            "\(path) belongs to another user than the one this program runs as. Run: chown it to that user."
        case .wrongKind(let path): "\(path) is not a plain file or directory of its own. Remove it."
        case .tooLarge(let path, let limit):
            "\(path) is larger than \(limit) bytes; it was not written by this program."
        case .damaged(let path, let what): "\(path) can't be read: \(what). Restore it from a backup."
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// A directory with mode 0700 whose files have mode 0600, all owned by the user of this process. Root may use another
/// user's, as the tools do with the one of a running service; what it writes there belongs to that user.
///
/// Everything is opened relative to the directory's descriptor and without following links, so that what was checked
/// is what is read.
final class StateDirectory: Sendable {
    let path: String
    /// Open for the lifetime of this object; used with the `…at` calls only.
    private let descriptor: Int32
    private let owner: (user: uid_t, group: gid_t)
    private let threads = NIOLock()

    /// Opens the directory, and makes it first if it isn't there.
    init(path: String) throws(StateDirectoryError) {
        self.path = path
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .system(call: "mkdir", path: path, code: errno)
        }
        let opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            throw errno == ELOOP || errno == ENOTDIR
                ? .wrongKind(path: path) : .system(call: "open", path: path, code: errno)
        }
        descriptor = opened
        do {
            let status = try Self.check(opened, path: path, kind: S_IFDIR, expected: 0o700)
            owner = (status.st_uid, status.st_gid)
        } catch {
            close(opened)
            throw error
        }
    }

    /// The same, but makes none.
    convenience init(existing path: String) throws(StateDirectoryError) {
        guard access(path, F_OK) == 0 else { throw .system(call: "open", path: path, code: errno) }
        try self.init(path: path)
    }

    deinit { close(descriptor) }

    /// Of the plain files in it, without those whose name begins with a dot, sorted.
    func names() throws(StateDirectoryError) -> [String] {
        do throws(FileFailure) {
            return try Directory.names(of: descriptor, path: path).filter { name in
                var status = stat()
                return !name.hasPrefix(".") && fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                    && status.st_mode & S_IFMT == S_IFREG
            }
        } catch {
            throw StateDirectoryError(error)
        }
    }

    /// Bytes of a file; nil when there is none.
    func read(_ name: String, limit: Int = 1 << 20) throws(StateDirectoryError) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP
                ? .wrongKind(path: full(name)) : .system(call: "open", path: full(name), code: errno)
        }
        defer { close(file) }
        try Self.check(file, path: full(name), kind: S_IFREG, expected: 0o600)
        do throws(SmallFile.Failure) {
            return try WholeFile.read(file, limit: limit)
        } catch {
            throw StateDirectoryError(error, path: full(name))
        }
    }

    /// The lines of a file, however long it is, in memory for a few of them. Longer ones than `longest` and the empty ones
    /// are left out; a last one without its end is reported like the others.
    func readLines(_ name: String, longest: Int, _ body: (ArraySlice<UInt8>) -> Void) throws(StateDirectoryError) {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return }
            throw errno == ELOOP
                ? .wrongKind(path: full(name)) : .system(call: "open", path: full(name), code: errno)
        }
        defer { close(file) }
        try Self.check(file, path: full(name), kind: S_IFREG, expected: 0o600)
        func emit(_ line: ArraySlice<UInt8>) { if !line.isEmpty, line.count <= longest { body(line) } }
        var rest: [UInt8] = []
        while true {
            var chunk = [UInt8](repeating: 0, count: 262_144)
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(call: "read", path: full(name), code: errno)
            }
            if count == 0 { break }
            var lines = chunk[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let last = lines.removeLast()
            if let first = lines.first {
                emit((rest + first)[...])
                for line in lines.dropFirst() { emit(line) }
                rest = Array(last)
            } else if rest.count <= longest {
                rest += last
            }
        }
        emit(rest[...])
    }

    /// Replaces a file as a whole: after a crash there is the old one or the new one.
    func write(_ name: String, _ bytes: [UInt8]) throws(StateDirectoryError) {
        do throws(FileFailure) {
            try DurableFile.replace(
                name, in: descriptor, path: path, with: bytes, through: ".\(name).new", owner: newOwner)
        } catch {
            throw StateDirectoryError(error)
        }
    }

    /// Appends to a file; makes it first if it isn't there.
    func append(_ name: String, _ bytes: [UInt8]) throws(StateDirectoryError) {
        let file = openat(
            descriptor, name, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw .system(call: "open", path: full(name), code: errno) }
        defer { close(file) }
        // Looked at before it is given away: a tool of root's writes where the service's user could put something.
        let status = try Self.check(file, path: full(name), kind: S_IFREG, expected: 0o600)
        guard status.st_nlink == 1 else { throw .wrongKind(path: full(name)) }
        try giveToOwner(file, path: full(name))
        // A line that a crash cut off must not take the next one with it.
        var last: UInt8 = 0x0A
        if status.st_size > 0 { pread(file, &last, 1, status.st_size - 1) }
        do {
            try Self.writeAll(file, (last == 0x0A ? [] : [0x0A]) + bytes, path: full(name))
        } catch {
            ftruncate(file, status.st_size)
            throw error
        }
    }

    func remove(_ name: String) {
        unlinkat(descriptor, name, 0)
    }

    /// Overwrites a file with zeros before it is removed. A file system that copies on write, or a flash that spreads its
    /// writes, may keep the old blocks for a while all the same.
    func shred(_ name: String) {
        let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        if file >= 0 {
            var status = stat()
            if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
                let zeros = [UInt8](repeating: 0, count: min(65_536, max(0, Int(status.st_size))))
                try? Self.writeAll(file, zeros, path: full(name))
                fsync(file)
            }
            close(file)
        }
        unlinkat(descriptor, name, 0)
        fsync(descriptor)
    }

    /// Changes whenever the file was replaced; 0 when there is none.
    func stamp(_ name: String) -> UInt64 {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        var stamp = UInt64(status.st_ino) &* 0x9E37_79B9_7F4A_7C15
        stamp = stamp &+ UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_007
        return stamp &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)) | 1
    }

    /// Runs `body` while no other process that does the same is in the directory.
    func locked<R>(_ body: () throws -> R) throws -> R {
        // `flock` is the descriptor's, and so no lock between threads of this process.
        threads.lock()
        defer { threads.unlock() }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw StateDirectoryError.system(call: "flock", path: path, code: errno) }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }

    private func full(_ name: String) -> String { "\(path)/\(name)" }

    /// Of what is written here; nil: this process's user is.
    private var newOwner: (user: uid_t, group: gid_t)? { owner.user == geteuid() ? nil : owner }

    private func giveToOwner(_ file: Int32, path: String) throws(StateDirectoryError) {
        guard let owner = newOwner else { return }
        guard fchown(file, owner.user, owner.group) == 0 else {
            throw .system(call: "fchown", path: path, code: errno)
        }
    }

    @discardableResult
    private static func check(
        _ descriptor: Int32, path: String, kind: UInt32, expected: UInt32
    ) throws(StateDirectoryError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(call: "fstat", path: path, code: errno) }
        guard status.st_mode & S_IFMT == kind else { throw .wrongKind(path: path) }
        guard status.st_uid == geteuid() || geteuid() == 0 else { throw .wrongOwner(path: path) }
        guard status.st_mode & 0o077 == 0 else {
            throw .permissionsTooWide(path: path, mode: status.st_mode & 0o7777, expected: expected)
        }
        return status
    }

    private static func writeAll(_ file: Int32, _ bytes: [UInt8], path: String) throws(StateDirectoryError) {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(call: "write", path: path, code: errno)
            }
            start += count
        }
    }
}
