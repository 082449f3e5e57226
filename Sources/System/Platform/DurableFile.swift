internal import Glibc

/// A file that is written again each time, flushed, and only then put in place, so that a power cut leaves the old one
/// or the new one. For its owner alone where nothing else is said.
public enum DurableFile {
    /// - Parameters:
    ///   - temporary: where the content is written first; nil: `path.new`. Two processes that write one file need two.
    ///   - mode: of the new one, whatever the old one's was and the umask is.
    ///   - isFlushed: false for what is not needed after a power cut; it is the old one or the new one for readers then.
    /// - Throws: with the old file in place; or, when the directory alone could not be flushed, with the new one.
    public static func replace(
        _ path: String, with bytes: [UInt8], through temporary: String? = nil, mode: UInt32 = 0o600,
        isFlushed: Bool = true
    ) throws(FileFailure) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { String(path[...$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let temporary = temporary ?? "\(name).new"
        let prefix = slash == nil ? "" : directory
        // First of all: what could not be flushed in the end is not begun.
        let parent = CInt(
            try FileSteps()(.openDirectory, prefix + temporary) {
                Int(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            })
        defer { close(parent) }
        try replace(
            name, in: parent, path: directory, with: bytes, through: temporary, mode: mode, isFlushed: isFlushed)
    }

    /// The same below a directory that is open.
    ///
    /// - Parameters:
    ///   - temporary: a name below it.
    ///   - path: of the directory, for errors.
    ///   - owner: whose it becomes; nil: it stays this process's.
    public static func replace(
        _ name: String, in directory: CInt, path: String, with bytes: [UInt8], through temporary: String,
        owner: (user: UInt32, group: UInt32)? = nil, mode: UInt32 = 0o600, isFlushed: Bool = true
    ) throws(FileFailure) {
        let steps = FileSteps()
        let prefix = path.hasSuffix("/") ? path : "\(path)/"
        // What a power cut left of an attempt before.
        unlinkat(directory, temporary, 0)
        try NewFile.write(
            bytes, to: temporary, in: directory, path: prefix + temporary, owner: owner, mode: mode,
            isFlushed: isFlushed)
        do throws(FileFailure) {
            try steps(.rename, prefix + name) { Int(renameat(directory, temporary, directory, name)) }
        } catch {
            unlinkat(directory, temporary, 0)
            throw error
        }
        if isFlushed { try steps(.fsyncDirectory, path) { Int(fsync(directory)) } }
    }

    /// Gives a file that was written completely its name.
    ///
    /// - Throws: with the file under one of both names.
    public static func move(_ temporary: String, to path: String, isFlushed: Bool = true) throws(FileFailure) {
        try FileSteps()(.rename, path) { Int(rename(temporary, path)) }
        if isFlushed { try flushDirectory(of: path) }
    }

    /// The same without flushing, where a file that has that name is left alone unless it is to be replaced.
    ///
    /// - Throws: with the file under its old name; `isThere` when the new one is taken.
    public static func name(_ temporary: String, as path: String, replaces: Bool) throws(FileFailure) {
        try UnfinishedFile.rename(temporary, to: path, replaces: replaces)
    }

    /// Removes a file; there may be none.
    public static func remove(_ path: String, isFlushed: Bool = true) throws(FileFailure) {
        do throws(FileFailure) {
            try FileSteps()(.unlink, path) { Int(unlink(path)) }
        } catch {
            if error.isMissing { return }
            throw error
        }
        if isFlushed { try flushDirectory(of: path) }
    }

    /// The name of a file survives a power cut from here on.
    public static func flushDirectory(of path: String) throws(FileFailure) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let steps = FileSteps()
        let descriptor = CInt(
            try steps(.openDirectory, directory) { Int(open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) })
        defer { close(descriptor) }
        try steps(.fsyncDirectory, directory) { Int(fsync(descriptor)) }
    }
}
