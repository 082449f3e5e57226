internal import ErrorCatalog
internal import Glibc
internal import Platform

/// Control's files: whole reads with a limit, links are not followed.
enum SystemFiles {
    /// The whole file. Nil when there is none.
    static func readIfPresent(_ path: String, limit: Int) throws(FileFailure) -> [UInt8]? {
        do {
            return try read(path, limit: limit)
        } catch  where error.number == ENOENT {
            return nil
        }
    }

    /// The whole file; `EFBIG` when it is longer than `limit`.
    ///
    /// - Parameter isOwn: `EACCES` for a file of another user, though it may be read.
    static func read(_ path: String, limit: Int, isOwn: Bool = false) throws(FileFailure) -> [UInt8] {
        do {
            return try SmallFile.whole(path, limit: limit, followsLinks: false, isOwn: isOwn)
        } catch {
            throw FileFailure(call: "read", path: path, number: error.number)
        }
    }

    /// Removes whatever has this name. A directory of somebody else with something in it only gets another name.
    static func clear(_ path: String) throws(FileFailure) {
        if unlink(path) == 0 || errno == ENOENT { return }
        guard errno == EISDIR || errno == EPERM else {
            throw FileFailure(call: "unlink", path: path, number: errno)
        }
        if rmdir(path) == 0 { return }
        let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let other = "\(path[..<slash]).\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        try DurableFile.move(path, to: other, isFlushed: false)
    }

    /// Makes the directory, but not its parents; keeps the mode of one that is there.
    static func makeDirectory(_ path: String, mode: UInt32) throws(FileFailure) {
        if mkdir(path, mode_t(mode)) == 0 {
            guard chmod(path, mode_t(mode)) == 0 else { throw FileFailure(call: "chmod", path: path, number: errno) }
        } else if errno != EEXIST {
            throw FileFailure(call: "mkdir", path: path, number: errno)
        }
    }
}

extension FileFailure {
    /// With the text for a person.
    var coded: CodedError {
        let why = SystemMessage.text(number)
        return switch number {
        case ENOSPC, EDQUOT: CodedError(.diskFull, "\(path) could not be saved", why: why, object: path)
        case EROFS: CodedError(.readOnly, "\(path) could not be saved", why: why, object: path)
        default: CodedError(.writeFailed, "\(path) could not be saved", why: why, object: path)
        }
    }
}
