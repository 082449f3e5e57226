internal import Glibc

/// A file that is written and read at any place, for its owner alone. Used by one thread at a time.
public final class PlainFile {
    public let path: String

    /// Open until its owner ends, and this file's: for who writes by other means.
    public let descriptor: CInt
    private let steps = FileSteps()

    /// - Throws: `isThere` when something has that name.
    public init(creating path: String) throws(FileFailure) {
        self.path = path
        descriptor = CInt(
            try steps(.open, path) { Int(open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)) })
    }

    /// - Throws: `isMissing` when nothing has that name; EINVAL, ELOOP or EISDIR when it is no plain file.
    public init(opening path: String) throws(FileFailure) {
        self.path = path
        // Not blocking: a FIFO in place of a file must not block the caller.
        let descriptor = CInt(
            try steps(.open, path) { Int(open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) })
        self.descriptor = descriptor
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw FileFailure(call: "fstat", path: path, number: errno)
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileFailure(call: "open", path: path, number: EINVAL) }
    }

    deinit { close(descriptor) }

    /// Bytes.
    public func size() throws(FileFailure) -> Int64 {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure(call: "fstat", path: path, number: errno) }
        return Int64(status.st_size)
    }

    /// Whether what is in it can be this user's alone: nobody else owns it or may write to it, and it has no second name.
    public func isOwn() throws(FileFailure) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileFailure(call: "fstat", path: path, number: errno) }
        return status.st_uid == geteuid() && status.st_mode & 0o022 == 0 && status.st_nlink == 1
    }

    /// Takes it for this process, until it is let go of (flock(2)).
    ///
    /// - Returns: false: another has it, or took its name away meanwhile.
    public func lock() throws(FileFailure) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let number = errno
            if number == EWOULDBLOCK { return false }
            guard number == EINTR else { throw FileFailure(call: "flock", path: path, number: number) }
        }
        var own = stat()
        var named = stat()
        guard fstat(descriptor, &own) == 0 else { throw FileFailure(call: "fstat", path: path, number: errno) }
        return lstat(path, &named) == 0 && named.st_dev == own.st_dev && named.st_ino == own.st_ino
    }

    /// The bytes of `range` that are there: fewer, or none, where the file ends before.
    public func read(_ range: Range<Int64>) throws(FileFailure) -> [UInt8] {
        precondition(range.lowerBound >= 0, "before the file: the caller's fault")
        var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress! + filled, $0.count - filled, off_t(range.lowerBound) + off_t(filled))
            }
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw FileFailure(call: "pread", path: path, number: errno)
            }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// - Throws: a part of `bytes` may be there then.
    public func write(_ bytes: ArraySlice<UInt8>, at offset: Int64) throws(FileFailure) {
        try steps.write(bytes, to: descriptor, at: offset, path)
    }

    /// Cuts off what lies behind so many bytes.
    public func truncate(to size: Int64) throws(FileFailure) {
        try steps(.truncate, path) { Int(ftruncate(descriptor, off_t(size))) }
    }

    /// What was written survives a power cut from here on; its name does when its directory was flushed as well.
    public func flush() throws(FileFailure) {
        try steps(.fsync, path) { Int(fdatasync(descriptor)) }
    }
}
