internal import Archive
internal import Glibc

extension RecordingDirectory {
    /// When something in it was last created, renamed or removed, in nanoseconds since 1970; nil when it cannot be asked.
    var modified: Int64? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }

    /// Bytes; nil when there is no such file.
    func size(of name: RecordingName) -> Int64? {
        var status = stat()
        guard lstat(path(of: name), &status) == 0 else { return nil }
        return Int64(status.st_size)
    }
}
