internal import Glibc

/// A file that did not exist before, for its owner only where nothing else is said.
public enum NewFile {
    /// Nothing is overwritten, no link is followed, and nothing is left behind when it fails.
    ///
    /// - Parameter isFlushed: false for what is not needed after a power cut.
    public static func write(
        _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, isFlushed: Bool = true
    ) throws(FileFailure) {
        try write(bytes, to: path, in: AT_FDCWD, path: path, mode: mode, isFlushed: isFlushed)
    }

    /// The same below a directory that is open.
    ///
    /// - Parameters:
    ///   - path: of the file, for errors.
    ///   - owner: whose it becomes; nil: it stays this process's.
    public static func write(
        _ bytes: [UInt8], to name: String, in directory: CInt, path: String,
        owner: (user: UInt32, group: UInt32)? = nil, mode: UInt32 = 0o600, isFlushed: Bool = true
    ) throws(FileFailure) {
        let steps = FileSteps()
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = CInt(try steps(.open, path) { Int(openat(directory, name, flags, mode_t(mode))) })
        defer { close(file) }
        do throws(FileFailure) {
            // Whatever the umask says.
            try steps(.fchmod, path) { Int(fchmod(file, mode_t(mode))) }
            if let owner { try steps(.fchown, path) { Int(fchown(file, owner.user, owner.group)) } }
            // Not through slices of the array, which would be copies of what may be a key.
            var written = 0
            while written < bytes.count {
                written += try steps(.write, path) {
                    bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress! + written, $0.count - written) }
                }
            }
            if isFlushed { try steps(.fsync, path) { Int(fsync(file)) } }
        } catch {
            unlinkat(directory, name, 0)
            throw error
        }
    }
}
