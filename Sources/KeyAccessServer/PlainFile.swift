internal import Glibc

/// A file that the operator names: configuration, not keys; links are followed, sizes are bounded.
enum PlainFile {
    static func read(_ path: String, limit: Int) throws(StateDirectoryError) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .system(call: "open", path: path, code: errno) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw .system(call: "read", path: path, code: errno)
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw .tooLarge(path: path, limit: limit) }
        }
    }

    /// The same for a private key: nobody but the owner and the group may read it.
    static func readPrivateKey(_ path: String, limit: Int = 65_536) throws(StateDirectoryError) -> [UInt8] {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .system(call: "stat", path: path, code: errno) }
        guard status.st_mode & 0o037 == 0 else {
            throw .permissionsTooWide(path: path, mode: status.st_mode & 0o7777, wanted: 0o640)
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
