import BoxConfiguration
import Console
import Glibc
import Platform

/// The directory `WATCHBOX` of a boot partition or of a stick. Anybody may have prepared it: nothing in it is followed,
/// waited for or taken for something else than it is.
final class AdoptionVolume {
    static let fileName = "watchbox.toml"
    static let resultName = "watchbox-result.txt"
    /// The result, complete, while the file it is about is being wiped.
    static let preparedName = "watchbox-result.new"
    static let refusalName = "watchbox-result.tmp"

    enum Content: Equatable {
        /// There is no such file.
        case none
        /// It begins with a zero: it is being wiped, or was damaged.
        case zeros
        case bytes([UInt8])
        /// Why it is not read: what it is, and what to do.
        case refused(why: String, hint: String)
    }

    private let directory: CInt
    private let path: String
    private var name: String { "\(path)/\(Self.fileName)" }
    private var file: CInt = -1

    /// - Throws: `.notFound` when there is no such directory.
    init(_ path: String) throws(CommandFailure) {
        // A slash at the end would follow a link.
        var text = Substring(path)
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        self.path = String(text)
        directory = open(self.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else {
            throw CommandFailure(
                what: "nothing was adopted", why: "\(self.path) is not a directory: \(SystemMessage.text(errno))",
                hint: "name the directory WATCHBOX of a mounted volume", status: .notFound)
        }
    }

    deinit {
        if file >= 0 { close(file) }
        if directory >= 0 { close(directory) }
    }

    /// The file stays open for its end.
    ///
    /// - Throws: `.notPermitted` when it could be read and not be wiped.
    func read() throws(CommandFailure) -> Content {
        if file >= 0 { close(file) }
        file = -1
        var status = stat()
        guard fstatat(directory, Self.fileName, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            guard errno == ENOENT else { throw Self.unreadable(errno, name) }
            return .none
        }
        // Before it is opened: opening a device can do something.
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .refused(why: "is not a file", hint: "Put the file itself there, not a link to it")
        }
        // Not blocking: it could have become a FIFO in between.
        file = openat(
            directory, Self.fileName, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw Self.unreadable(errno, name) }
        guard fstat(file, &status) == 0 else { throw Self.unreadable(errno, name) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .refused(why: "is not a file", hint: "Put the file itself there, not a link to it")
        }
        do throws(SmallFile.Failure) {
            let bytes = try WholeFile.read(file, limit: AdoptionFile.sizeLimit)
            return bytes.first == 0 ? .zeros : .bytes(bytes)
        } catch .tooLong(let limit) {
            return .refused(why: "is longer than \(limit >> 10) KiB", hint: "Check that it is the right file")
        } catch {
            throw Self.unreadable(error.number, name)
        }
    }

    /// Whether a result waits for the end of a wiping that a power cut interrupted.
    var hasPrepared: Bool {
        var status = stat()
        return fstatat(directory, Self.preparedName, &status, AT_SYMLINK_NOFOLLOW) == 0
            && status.st_mode & S_IFMT == S_IFREG
    }

    /// Whether there is a file of this name.
    func has(_ name: String) -> Bool { faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 }

    /// Writes the result beside the place where `publish` puts it.
    func prepare(_ result: String) throws(FileFailure) {
        unlinkat(directory, Self.preparedName, 0)
        try NewFile.write(
            Array(result.utf8), to: Self.preparedName, in: directory, path: "\(path)/\(Self.preparedName)", mode: 0o644)
    }

    /// A result of its own, when nothing was taken: what is prepared means that all was.
    func leave(_ result: String) throws(FileFailure) {
        unlinkat(directory, Self.preparedName, 0)
        unlinkat(directory, Self.refusalName, 0)
        try NewFile.write(
            Array(result.utf8), to: Self.refusalName, in: directory, path: "\(path)/\(Self.refusalName)", mode: 0o644)
        try rename(Self.refusalName)
    }

    /// Zeros in place of all that the file holds.
    func overwrite() throws(FileFailure) {
        guard file >= 0 else { return }
        var status = stat()
        guard fstat(file, &status) == 0, lseek(file, 0, SEEK_SET) == 0 else {
            throw FileFailure(call: "lseek", path: name, number: errno)
        }
        let zeros = [UInt8](repeating: 0, count: 4096)
        var rest = Int(status.st_size)
        while rest > 0 {
            let count = write(file, zeros, min(rest, zeros.count))
            guard count > 0 || (count < 0 && errno == EINTR) else {
                throw FileFailure(call: "write", path: name, number: count == 0 ? EIO : errno)
            }
            if count > 0 { rest -= count }
        }
        guard fsync(file) == 0 else { throw FileFailure(call: "fsync", path: name, number: errno) }
    }

    func remove() throws(FileFailure) {
        guard unlinkat(directory, Self.fileName, 0) == 0 || errno == ENOENT else {
            throw FileFailure(call: "unlink", path: name, number: errno)
        }
        try flush()
    }

    /// The prepared result becomes the one that is read.
    func publish() throws(FileFailure) { try rename(Self.preparedName) }

    private func rename(_ from: String) throws(FileFailure) {
        guard renameat(directory, from, directory, Self.resultName) == 0 else {
            throw FileFailure(call: "rename", path: "\(path)/\(Self.resultName)", number: errno)
        }
        try flush()
    }

    private func flush() throws(FileFailure) {
        guard fsync(directory) == 0 else { throw FileFailure(call: "fsync", path: path, number: errno) }
    }

    /// Why a file cannot be taken that the kernel refuses to open.
    static func unreadable(_ number: CInt, _ name: String) -> CommandFailure {
        // Taken and left there, its secrets would stay, and it would be taken again at each start.
        guard number != EROFS, number != EACCES, number != EPERM else {
            return CommandFailure(
                what: "nothing was adopted", why: "\(name) cannot be wiped afterwards: \(SystemMessage.text(number))",
                hint: "unlock the write protection of the card or stick, and mount it writable", status: .notPermitted)
        }
        return CommandFailure(
            what: "nothing was adopted", why: "\(name) cannot be read: \(SystemMessage.text(number))",
            hint: "write the file again, or use another stick", status: .failed)
    }
}
