internal import Glibc

/// A file that is written piece by piece under a name of its own, and gets its real one only when it is whole. For its owner
/// alone. Whoever lets go of it before leaves nothing behind.
public final class UnfinishedFile {
    /// Where it will be.
    public let path: String
    /// Bytes that were appended.
    public private(set) var size: Int64 = 0

    /// Where it is until then, for whoever reads it again before.
    public let temporary: String
    /// Open for reading and writing until its owner ends, and this file's: for who writes by other means than ``append(_:)``. A second look at
    /// the name may find what somebody else put there.
    public let descriptor: CInt
    private let directory: CInt
    private let steps = FileSteps()
    private var isFinished = false

    /// Begins a file in the directory of `path`.
    public init(_ path: String) throws(FileFailure) {
        self.path = path
        let slash = path.lastIndex(of: "/")
        let place = slash.map { String(path[...$0]) } ?? ""
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        // Already now: a directory that cannot be flushed is no place for a file that has to be there afterwards.
        let steps = FileSteps()
        let directory = CInt(
            try steps(.openDirectory, path) {
                Int(open(place.isEmpty ? "." : place, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            })
        // Not longer than the name that it gets.
        let prefix = String(decoding: name.utf8.prefix(240), as: UTF8.self)
        var template = Array("\(place).\(prefix).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            let number = errno
            close(directory)
            throw FileFailure(call: "open", path: path, number: number)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        temporary = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        self.descriptor = descriptor
        self.directory = directory
    }

    deinit {
        close(descriptor)
        if !isFinished { unlink(temporary) }
        close(directory)
    }

    public func append(_ bytes: ArraySlice<UInt8>) throws(FileFailure) {
        try steps.write(bytes, to: descriptor, at: size, path)
        size += Int64(bytes.count)
    }

    /// Writes over what is there already, such as a header whose values are known last.
    public func overwrite(_ bytes: [UInt8], at offset: Int64) throws(FileFailure) {
        precondition(offset >= 0 && offset + Int64(bytes.count) <= size, "behind the end: the caller's fault")
        try steps.write(bytes[...], to: descriptor, at: offset, path)
    }

    /// Flushes the file and gives it its name.
    ///
    /// - Parameter replaces: a file that has that name; otherwise it is left alone, and this throws (`isThere`).
    public func finish(replaces: Bool) throws(FileFailure) {
        try steps(.fsync, path) { Int(fsync(descriptor)) }
        try Self.rename(temporary, to: path, replaces: replaces)
        isFinished = true
        try steps(.fsyncDirectory, path) { Int(fsync(directory)) }
    }

    /// - Throws: with the file under its old name.
    static func rename(_ temporary: String, to path: String, replaces: Bool) throws(FileFailure) {
        if !replaces, try linked(temporary, to: path) {
            unlink(temporary)
            return
        }
        try FileSteps()(.rename, path) {
            // Where there are no hard links (FAT) somebody may take the name between the look and the renaming.
            guard replaces || access(path, F_OK) != 0 else {
                errno = EEXIST
                return -1
            }
            return Int(Glibc.rename(temporary, path))
        }
    }

    /// Gives it its name, which no other file has.
    ///
    /// - Returns: false where there are no hard links.
    private static func linked(_ temporary: String, to path: String) throws(FileFailure) -> Bool {
        if link(temporary, path) == 0 { return true }
        guard errno != EEXIST else { throw FileFailure(call: "link", path: path, number: EEXIST) }
        return false
    }
}
