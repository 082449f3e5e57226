internal import ErrorCatalog
internal import Glibc

/// Files as the kernel has them: whole reads with a limit, whole writes under a new name. Links are not followed.
enum SystemFiles {
    /// Why the kernel refused.
    struct Failure: Error, Equatable {
        var path: String
        var code: Int32

        /// With the words for a person.
        var coded: CodedError {
            let why = String(cString: strerror(code))
            return switch code {
            case ENOSPC, EDQUOT: CodedError(.diskFull, "\(path) could not be saved", why: why, object: path)
            case EROFS: CodedError(.readOnly, "\(path) could not be saved", why: why, object: path)
            default: CodedError(.writeFailed, "\(path) could not be saved", why: why, object: path)
            }
        }
    }

    /// The whole file. Nil when there is none.
    static func readIfPresent(_ path: String, limit: Int) throws(Failure) -> [UInt8]? {
        do {
            return try read(path, limit: limit)
        } catch  where error.code == ENOENT {
            return nil
        }
    }

    /// The whole file; `EFBIG` when it is longer than `limit`.
    ///
    /// - Parameter isOwn: `EACCES` for a file of another user, though it may be read.
    static func read(_ path: String, limit: Int, isOwn: Bool = false) throws(Failure) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw Failure(path: path, code: errno) }
        defer { close(file) }
        if isOwn {
            var status = stat()
            guard fstat(file, &status) == 0 else { throw Failure(path: path, code: errno) }
            guard status.st_uid == geteuid() else { throw Failure(path: path, code: EACCES) }
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure(path: path, code: errno)
            }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw Failure(path: path, code: EFBIG) }
            bytes += chunk[..<count]
        }
    }

    /// A new file with exactly this content and mode; nothing is left of it when it fails.
    static func create(_ path: String, _ bytes: [UInt8], mode: UInt32, isDurable: Bool) throws(Failure) {
        // A rest of an attempt that was killed.
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_t(mode))
        guard file >= 0 else { throw Failure(path: path, code: errno) }
        var code: Int32 = 0
        var written = 0
        while written < bytes.count, code == 0 {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count >= 0 { written += count } else if errno != EINTR { code = errno }
        }
        // The mode of `open` went through the umask.
        if code == 0, fchmod(file, mode_t(mode)) != 0 { code = errno }
        if code == 0, isDurable, fsync(file) != 0 { code = errno }
        if close(file) != 0, code == 0 { code = errno }
        guard code == 0 else {
            unlink(path)
            throw Failure(path: path, code: code)
        }
    }

    static func move(_ from: String, to: String, isDurable: Bool) throws(Failure) {
        guard rename(from, to) == 0 else { throw Failure(path: to, code: errno) }
        if isDurable { try synchroniseDirectory(of: to) }
    }

    /// No error when there is none.
    static func remove(_ path: String, isDurable: Bool = false) throws(Failure) {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw Failure(path: path, code: errno)
        }
        if isDurable { try synchroniseDirectory(of: path) }
    }

    /// Removes whatever has this name. A directory of somebody else with something in it only gets another name.
    static func clear(_ path: String) throws(Failure) {
        if unlink(path) == 0 || errno == ENOENT { return }
        guard errno == EISDIR || errno == EPERM else { throw Failure(path: path, code: errno) }
        if rmdir(path) == 0 { return }
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let other = "\(path[..<slash]).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        try move(path, to: other, isDurable: false)
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether its file system takes no writes, by proc(5)'s `/proc/self/mountinfo`. Not whether this process may write
    /// there: systemd mounts a read-only disk read-only for a unit, and that stays when the disk recovers.
    static func isReadOnly(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0, let table = try? read("/proc/self/mountinfo", limit: 1 << 20) else {
            return false
        }
        let device = UInt64(status.st_dev)
        let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
        let minor = device & 0xff | (device >> 12) & ~0xff
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            // 36 35 98:0 /root /mount/point options optional… - type source options
            let fields = line.split(separator: " ")
            guard fields.count > 3, fields[2] == "\(major):\(minor)", let options = fields.last else { continue }
            return options.split(separator: ",").contains("ro")
        }
        return false
    }

    /// Makes the directory, but not its parents; keeps the mode of one that is there.
    static func makeDirectory(_ path: String, mode: UInt32) throws(Failure) {
        if mkdir(path, mode_t(mode)) == 0 {
            guard chmod(path, mode_t(mode)) == 0 else { throw Failure(path: path, code: errno) }
        } else if errno != EEXIST {
            throw Failure(path: path, code: errno)
        }
    }

    /// Names in a directory, sorted; at most `limit` of them. None when there is no such directory.
    static func names(in directory: String, limit: Int = 4096) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func synchroniseDirectory(of path: String) throws(Failure) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw Failure(path: directory, code: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw Failure(path: directory, code: errno) }
    }
}
