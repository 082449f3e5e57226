internal import Glibc

/// What the file system of a path says about itself.
struct FileSystem {
    /// Less room than SQLite needs to go on: its shared-memory file alone grows by 32 KiB.
    private static let minRoom: UInt64 = 64 << 10

    var isFull = false
    var isReadOnly = false

    init(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 || statvfs(Self.directory(of: path), &status) == 0 else { return }
        isReadOnly = status.f_flag & UInt(ST_RDONLY) != 0
        isFull = UInt64(status.f_bavail) * UInt64(status.f_frsize) < Self.minRoom
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }
}

enum ErrorNumber {
    static let noSpace = ENOSPC
    static let quota = EDQUOT
    static let readOnly = EROFS
    static let inputOutput = EIO
}
