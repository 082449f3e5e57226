internal import Glibc
internal import Platform

/// A directory of mode 0700 whose files have mode 0600, all of them owned by the user of this process; or, for root who
/// only reads, by the user whose the root of them is.
///
/// Everything below it is reached by descriptor and without following links, so that what was checked is what is used.
final class SecretDirectory: Sendable {
    let path: String
    private let descriptor: Int32
    /// Whose all below must be.
    private let owner: uid_t

    private init(path: String, descriptor: Int32, owner: uid_t) {
        self.path = path
        self.descriptor = descriptor
        self.owner = owner
    }

    deinit { close(descriptor) }

    /// A directory that the system gave to this process, such as `/var/lib/watchbox`: systemd may have made it a link,
    /// and others may list it.
    static func root(_ path: String) throws(CredentialError) -> SecretDirectory {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .errno("mkdir", path) }
        let (opened, user) = try open(path)
        let root = SecretDirectory(path: path, descriptor: opened, owner: geteuid())
        // /run/watchbox is root's, for all of WatchBox; what is made below belongs to this process.
        guard user == geteuid() || user == 0 else {
            throw .unsafeFile(path: path, why: "it belongs to another user")
        }
        return root
    }

    /// As `root`, of another user's process too: for root, who reads what that user has. What is below must be that
    /// user's, so that nothing else is read because somebody put it there.
    static func ofAnyUser(_ path: String) throws(CredentialError) -> SecretDirectory {
        let (opened, user) = try open(path)
        return SecretDirectory(path: path, descriptor: opened, owner: user)
    }

    private static func open(_ path: String) throws(CredentialError) -> (descriptor: Int32, user: uid_t) {
        let opened = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw .errno("open", path) }
        var status = stat()
        let failure: CredentialError? =
            fstat(opened, &status) != 0
            ? .errno("fstat", path)
            : status.st_mode & 0o022 != 0 ? .unsafeFile(path: path, why: "others may write into it") : nil
        if let failure {
            close(opened)
            throw failure
        }
        return (opened, status.st_uid)
    }

    /// A directory below, made when it is missing.
    func making(_ name: String) throws(CredentialError) -> SecretDirectory {
        if mkdirat(descriptor, name, 0o700) == 0 {
            try flush()
        } else if errno != EEXIST {
            throw .errno("mkdir", "\(path)/\(name)")
        }
        guard let made = try existing(name) else { throw .errno("open", "\(path)/\(name)", ENOENT) }
        return made
    }

    /// A directory below; nil when there is none.
    func existing(_ name: String) throws(CredentialError) -> SecretDirectory? {
        let below = "\(path)/\(name)"
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ENOTDIR || errno == ELOOP {
                throw .unsafeFile(path: below, why: "it is a link or a file instead of a directory")
            }
            throw .errno("open", below)
        }
        let directory = SecretDirectory(path: below, descriptor: opened, owner: owner)
        try check(opened, below, kind: S_IFDIR)
        return directory
    }

    /// The files and directories in it, without those whose name begins with a dot, sorted.
    func names() throws(CredentialError) -> [String] {
        try allNames().filter { !$0.hasPrefix(".") }
    }

    /// Bytes of a file; nil when there is none.
    func read(_ name: String, limit: Int) throws(CredentialError) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .errno("open", "\(path)/\(name)")
        }
        defer { close(file) }
        try check(file, "\(path)/\(name)", kind: S_IFREG)
        do throws(SmallFile.Failure) {
            return try WholeFile.read(file, limit: limit)
        } catch .tooLong {
            throw .damaged(path: "\(path)/\(name)")
        } catch {
            throw .errno("read", "\(path)/\(name)", error.number)
        }
    }

    /// Replaces a file as a whole: after a power cut there is the old one or the new one. Whatever stands under the
    /// name, a link too, is replaced and never written through.
    func write(_ name: String, _ bytes: [UInt8]) throws(CredentialError) {
        do throws(FileFailure) {
            try DurableFile.replace(name, in: descriptor, path: path, with: bytes, through: ".\(name).new")
        } catch {
            throw CredentialError(error)
        }
    }

    /// As `write`, but only when there is none yet.
    ///
    /// - Returns: whether it was written.
    func create(_ name: String, _ bytes: [UInt8]) throws(CredentialError) -> Bool {
        let temporary = ".\(name).new"
        if unlinkat(descriptor, temporary, 0) != 0, errno != ENOENT { throw .errno("unlink", "\(path)/\(temporary)") }
        do throws(FileFailure) {
            try NewFile.write(bytes, to: temporary, in: descriptor, path: "\(path)/\(temporary)")
        } catch {
            throw CredentialError(error)
        }
        let linked = linkat(descriptor, temporary, descriptor, name, 0)
        let code = errno
        unlinkat(descriptor, temporary, 0)
        guard linked == 0 || code == EEXIST else { throw .errno("link", "\(path)/\(name)", code) }
        try flush()
        return linked == 0
    }

    /// - Returns: false when there was none.
    @discardableResult
    func remove(_ name: String) throws(CredentialError) -> Bool {
        guard unlinkat(descriptor, name, 0) == 0 else {
            if errno == ENOENT { return false }
            throw .errno("unlink", "\(path)/\(name)")
        }
        try flush()
        return true
    }

    /// Gives a file to another directory, and takes the place of one of its name there: after a power cut one of both has it.
    func move(_ name: String, to other: SecretDirectory) throws(CredentialError) {
        guard renameat(descriptor, name, other.descriptor, name) == 0 else {
            throw .errno("rename", "\(path)/\(name)")
        }
        try other.flush()
        try flush()
    }

    /// Removes a directory below with its files.
    func removeDirectory(_ name: String) throws(CredentialError) {
        guard let below = try existing(name) else { return }
        for file in try below.allNames() { try below.remove(file) }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else {
            throw .errno("rmdir", "\(path)/\(name)")
        }
        try flush()
    }

    /// Removes what a power cut left of files that were being written.
    func sweep() throws(CredentialError) {
        for name in try allNames() where name.hasPrefix(".") && name.hasSuffix(".new") { try remove(name) }
    }

    /// Whether it is in memory, and gone after a power cut.
    var isInMemory: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return MountTable.isMemory(device: UInt64(status.st_dev))
    }

    private func flush() throws(CredentialError) {
        guard fsync(descriptor) == 0 else { throw .errno("fsync", path) }
    }

    private func allNames() throws(CredentialError) -> [String] {
        do throws(FileFailure) {
            return try Directory.names(of: descriptor, path: path)
        } catch {
            throw CredentialError(error)
        }
    }

    private func check(_ descriptor: Int32, _ path: String, kind: UInt32) throws(CredentialError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .errno("fstat", path) }
        guard status.st_mode & S_IFMT == kind else {
            throw .unsafeFile(path: path, why: "it is not a plain file or directory")
        }
        guard status.st_uid == owner else { throw .unsafeFile(path: path, why: "it belongs to another user") }
        guard status.st_mode & 0o077 == 0 else { throw .unsafeFile(path: path, why: "others have access to it") }
    }
}
