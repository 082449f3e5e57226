internal import Glibc
internal import Platform

/// Whether a process of a user that nobody else is (`DynamicUser=`) can read a file.
enum OpenFile {
    static let missing = "is not there"
    static let noFile = "is not a file"

    /// Why it cannot, as text that follows the file's name; nil: it can, or that cannot be seen from here.
    static func obstacle(_ path: String) -> String? {
        // Given to the unit by systemd; only the unit sees it.
        guard !path.hasPrefix("/run/credentials/") else { return nil }
        var directory = ""
        for part in path.split(separator: "/").dropLast() {
            directory += "/\(part)"
            var status = stat()
            guard stat(directory, &status) == 0 else { return text(errno, directory) }
            guard status.st_mode & S_IXOTH != 0 else { return "is in \(directory), which is closed to its process" }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { return text(errno, path) }
        guard status.st_mode & S_IFMT == S_IFREG else { return noFile }
        return status.st_mode & S_IROTH != 0 ? nil : "cannot be read by its process, which has a user of its own"
    }

    private static func text(_ code: Int32, _ place: String) -> String {
        switch code {
        case ENOENT, ENOTDIR: missing
        case EACCES: "is in a directory that is closed to its process"
        default: "cannot be looked at: \(SystemMessage.text(code))"
        }
    }
}
