internal import Glibc
internal import Platform

extension SmallFile {
    /// Of the file itself, following links; nil when it is not there or not to be seen.
    static func status(_ path: String) -> stat? {
        var information = stat()
        return stat(path, &information) == 0 ? information : nil
    }
}

extension SmallFile.Failure {
    var isPermission: Bool { self == .refused(errno: EACCES) || self == .refused(errno: EPERM) }
}
