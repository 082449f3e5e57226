internal import Glibc
internal import Platform

/// A file that the operator names: configuration, not keys; links are followed, sizes are bounded.
enum PlainFile {
    static func read(_ path: String, limit: Int) throws(StateDirectoryError) -> [UInt8] {
        do throws(SmallFile.Failure) {
            return try SmallFile.whole(path, limit: limit)
        } catch {
            throw StateDirectoryError(error, path: path)
        }
    }

    /// The same for a private key: nobody but the owner and the group may read it.
    static func readPrivateKey(_ path: String, limit: Int = 65_536) throws(StateDirectoryError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(call: "stat", path: path, code: errno) }
        guard status.st_mode & 0o037 == 0 else {
            throw .permissionsTooWide(path: path, mode: status.st_mode & 0o7777, expected: 0o640)
        }
        return try read(path, limit: limit)
    }

    /// Changes when the file is replaced or written; 0 when there is none.
    static func stamp(_ path: String) -> UInt64 {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        var stamp = UInt64(status.st_ino) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bitPattern: Int64(status.st_size))
        stamp = stamp &+ UInt64(bitPattern: Int64(status.st_mtim.tv_sec)) &* 1_000_000_007
        return stamp &+ UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)) | 1
    }
}
