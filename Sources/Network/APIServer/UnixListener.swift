internal import Glibc
internal import Platform

/// A listening Unix socket and its file.
///
/// The file appears under its name with mode and group as they should be, and with a process listening: it is made under
/// another name and renamed. Two servers that start at once do not replace each other: they take turns by a lock on
/// the directory.
struct UnixListener: Sendable {
    /// Owned by whoever listens.
    let descriptor: CInt
    let path: String
    private let device: UInt
    private let inode: UInt

    private static let backlog: CInt = 64

    /// Replaces the file of a process that has ended. Throws `inUse` when another process listens.
    init(path: String, mode: UInt32, group: String?) throws(APIServerError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        // Shorter than any name that makes sense, so that it never is what is too long.
        let temporary = "\(directory)/.\(String(UInt32.random(in: 0 ..< .max), radix: 36))"
        let address = try Self.address(path)
        let temporaryAddress = try Self.address(temporary)
        var owner = gid_t.max  // chown(2): leave it
        if let group {
            guard let identifier = Administrators.identifier(ofGroup: group) else { throw .noSuchGroup(group) }
            owner = identifier
        }
        let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A camera may make a file in its directory and not read it; only its own unit uses the name, so no turns
        // need to be taken.
        guard lock >= 0 || errno == EACCES else { throw Self.failure("open", directory) }
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0 {
            guard flock(lock, LOCK_EX) == 0 else { throw Self.failure("flock", directory) }
        }
        try Self.refuseIfListening(path, address)

        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("socket", path) }
        do throws(APIServerError) {
            // On Linux the file begins with the socket's own mode (less the umask): no window for others.
            guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure("fchmod", path) }
            guard temporaryAddress.withSocketAddress({ bind(descriptor, $0, $1) }) == 0 else {
                throw Self.failure("bind", path)
            }
            // Not for nothing: a unit's sandbox refuses the call as such.
            if owner != gid_t.max {
                guard chown(temporary, uid_t.max, owner) == 0 else { throw Self.failure("chown", path) }
            }
            guard chmod(temporary, mode_t(mode)) == 0 else { throw Self.failure("chmod", path) }
            guard listen(descriptor, Self.backlog) == 0 else { throw Self.failure("listen", path) }
            var information = stat()
            guard lstat(temporary, &information) == 0 else { throw Self.failure("lstat", path) }
            guard rename(temporary, path) == 0 else { throw Self.failure("rename", path) }
            self.descriptor = descriptor
            self.path = path
            device = UInt(information.st_dev)
            inode = UInt(information.st_ino)
        } catch {
            unlink(temporary)
            close(descriptor)
            throw error
        }
    }

    /// Removes the file, if it still is this one.
    func removeFile() {
        var information = stat()
        guard lstat(path, &information) == 0, UInt(information.st_dev) == device, UInt(information.st_ino) == inode
        else { return }
        unlink(path)
    }

    private static func refuseIfListening(_ path: String, _ address: UnixAddress) throws(APIServerError) {
        var information = stat()
        guard lstat(path, &information) == 0 else {
            if errno == ENOENT { return }
            throw failure("lstat", path)
        }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw failure("socket", path) }
        defer { close(descriptor) }
        let result = address.withSocketAddress { connect(descriptor, $0, $1) }
        // Any other answer, a full backlog above all, means that another process has it open.
        if result != 0, errno == ECONNREFUSED || errno == ENOENT { return }
        throw .inUse(path: path)
    }

    private static func address(_ path: String) throws(APIServerError) -> UnixAddress {
        guard let address = UnixAddress(path: path) else {
            throw .pathTooLong(path: path, limit: UnixAddress.longestPath)
        }
        return address
    }

    private static func failure(_ call: String, _ path: String) -> APIServerError {
        .failed(call: call, path: path, reason: SystemMessage.text(errno))
    }
}

/// A listening socket that another process made.
enum HandedOverListener {
    /// Whether it is a Unix socket; over any other only metrics are served.
    static func isLocal(_ descriptor: CInt) throws(APIServerError) -> Bool {
        guard option(SO_ACCEPTCONN, descriptor) == 1,
            option(SO_TYPE, descriptor) == CInt(SOCK_STREAM.rawValue),
            let domain = option(SO_DOMAIN, descriptor)
        else { throw .notListening(descriptor: descriptor) }
        return domain == AF_UNIX
    }

    private static func option(_ name: CInt, _ descriptor: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}
