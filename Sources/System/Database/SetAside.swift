internal import Glibc

/// Moves a damaged database out of the way. It is kept: a person may still get something out of it.
enum SetAside {
    /// How many damaged files are kept at most.
    static let limit = 3

    /// Renames the database at `path` to `NAME.corrupt-N`, with its write-ahead log.
    ///
    /// - Returns: the new path of the database.
    static func move(_ path: String) throws(DatabaseFailure) -> String {
        let directory = FileSystem.directory(of: path)
        let earlier = try numbers(of: path, in: directory)
        let number = (earlier.max() ?? 0) + 1
        let target = "\(path).corrupt-\(number)"
        // The log first: after a power cut in between, a damaged database without its log is still found and moved.
        if rename("\(path)-wal", "\(target)-wal") != 0, errno != ENOENT {
            throw DatabaseFailure(call: "rename", path: "\(path)-wal", code: errno)
        }
        unlink("\(path)-shm")
        guard rename(path, target) == 0 else { throw DatabaseFailure(call: "rename", path: path, code: errno) }
        for old in earlier.sorted().dropLast(limit - 1) {
            unlink("\(path).corrupt-\(old)")
            unlink("\(path).corrupt-\(old)-wal")
        }
        let opened = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if opened >= 0 {
            fsync(opened)
            close(opened)
        }
        return target
    }

    private static func numbers(of path: String, in directory: String) throws(DatabaseFailure) -> [Int] {
        guard let listing = opendir(directory) else {
            throw DatabaseFailure(call: "opendir", path: directory, code: errno)
        }
        defer { closedir(listing) }
        let prefix = FileSystem.name(of: path) + ".corrupt-"
        var found: [Int] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)), number > 0,
                number < Int(Int32.max)
            else { continue }
            found.append(number)
        }
        return found
    }
}
