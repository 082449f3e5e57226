internal import Glibc
internal import Platform

/// What libcurl does not say: why a Unix socket cannot be connected to.
enum SocketProbe {
    static func error(_ path: String, _ reason: String) -> ControlClientError {
        switch connect(path) {
        case ENOENT: .unreachable(path: path, why: "there is no such socket; the daemon does not run")
        case ECONNREFUSED: .unreachable(path: path, why: "the daemon does not run")
        case EACCES, EPERM: .denied(path: path)
        case 0: .unreachable(path: path, why: reason)
        case let code: .unreachable(path: path, why: "\(reason) (\(SystemMessage.text(code)))")
        }
    }

    /// 0 or an errno.
    private static func connect(_ path: String) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Glibc.connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
