internal import Glibc
internal import Platform

/// What libcurl does not say: why a Unix socket cannot be connected to.
enum SocketProbe {
    static func error(_ path: String, _ reason: String) -> ControlClientError {
        switch connect(path) {
        case ENOENT: .unreachable(path: path, why: "there is no such socket; the daemon is not running")
        case ECONNREFUSED: .unreachable(path: path, why: "the daemon is not running")
        case EACCES, EPERM: .denied(path: path)
        case 0: .unreachable(path: path, why: reason)
        case let code: .unreachable(path: path, why: "\(reason) (\(SystemMessage.text(code)))")
        }
    }

    /// 0 or an errno.
    private static func connect(_ path: String) -> CInt {
        guard let address = UnixAddress(path: path) else { return path.isEmpty ? ENOENT : ENAMETOOLONG }
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return address.withSocketAddress { Glibc.connect(descriptor, $0, $1) } == 0 ? 0 : errno
    }
}
