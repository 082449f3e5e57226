/// Why a daemon of another machine cannot be asked.
public enum SSHForwardError: Error, Equatable, Sendable {
    case noSSH
    /// The path of a socket on the box, which ssh would read as something else.
    case invalidSocket(path: String)
    /// No directory for this end of the connection.
    case noDirectory(why: String)
    case notStarted(why: String)
    /// ssh has said why itself.
    case ended(SSHHost, status: Int32)
    case timedOut(SSHHost, after: Duration)
    /// The user is logged in, and the machine does not open the socket for them.
    case refused(SSHHost, socket: String)
}

extension SSHForwardError {
    /// `watchboxctl`'s exit status.
    public var exitStatus: Int32 {
        switch self {
        case .invalidSocket: 2
        case .refused: 6
        case .noSSH, .noDirectory, .notStarted, .ended, .timedOut: 7
        }
    }

    /// One command or one short text.
    public var hint: String {
        switch self {
        case .noSSH: "Install it: sudo apt install openssh-client"
        case .invalidSocket: "Name the socket as the box has it: --socket /run/watchbox/api.sock"
        case .noDirectory: "Make room in /tmp, or set TMPDIR to a directory of yours"
        case .notStarted: "Check the ssh that is first in PATH"
        case .ended(let host, _), .timedOut(let host, _): "Log in by hand: \(host.command)"
        case .refused(let host, _):
            "On the box: sudo adduser \(host.user ?? "USER") watchbox, then systemctl status watchbox-control; "
                + "this shows the user's groups: \(host.command) id -nG"
        }
    }
}

extension SSHForwardError: CustomStringConvertible {
    /// What happened, and why.
    public var description: String {
        switch self {
        case .noSSH: "there is no ssh in PATH"
        case .invalidSocket(let path): "\(path) is no path of a socket that can be forwarded"
        case .noDirectory(let why): "no private directory can be made for the connection: \(why)"
        case .notStarted(let why): "ssh cannot be started: \(why)"
        case .ended(let host, let status):
            "ssh to \(host) ended with \(status & 0x7F == 0 ? "status \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)")"
        case .timedOut(let host, let after): "ssh to \(host) was not ready within \(after.components.seconds) s"
        case .refused(let host, let socket):
            "\(host) does not open \(socket) for this user, who is not in the group watchbox there; or control does not run, "
                + "or its sshd forwards no sockets (AllowStreamLocalForwarding)"
        }
    }
}
