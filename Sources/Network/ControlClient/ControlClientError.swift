public import ControlAPI

/// Why a daemon's answer is missing, or is no.
public enum ControlClientError: Error, Equatable, Sendable {
    /// Nothing listens on the socket.
    case unreachable(path: String, why: String)
    /// The socket's permissions keep this user out.
    case denied(path: String)
    /// There is no way to the machine on which the daemon runs.
    case forward(SSHForwardError)
    case timedOut(path: String, after: Duration)
    /// The daemon's own message.
    case problem(Problem)
    /// What answers is not a daemon of this version.
    case invalidAnswer(path: String?, why: String)
    /// A part of the path is `.` or `..`, or holds a NUL: nothing has such a name.
    case invalidPath(String)
    case cancelled
}

extension ControlClientError {
    /// `watchboxctl`'s exit status.
    public var exitStatus: Int32 {
        switch self {
        case .unreachable, .timedOut: 5
        case .denied: 6
        case .forward(let error): error.exitStatus
        case .problem(let problem): Self.exitStatus(of: problem.status)
        case .invalidAnswer: 1
        case .invalidPath: 4
        case .cancelled: 10
        }
    }

    /// Of an answer with an HTTP status.
    public static func exitStatus(of status: Int) -> Int32 {
        switch status {
        case 200...299: 0
        case 404: 4
        case 401, 403: 6
        case 502, 504: 7
        case 422: 8
        case 409, 412, 423: 9
        default: 1
        }
    }

    /// One command or one short text.
    public var hint: String {
        switch self {
        case .unreachable, .timedOut: "Run: systemctl status watchbox-control"
        case .denied: "Use sudo, or: sudo adduser $USER watchbox, then log in again"
        case .forward(let error): error.hint
        case .problem(let problem): problem.hint
        case .invalidAnswer: "Check that watchboxd and watchboxctl have the same version: watchboxctl version"
        case .invalidPath: "Check the name"
        case .cancelled: "Nothing to do"
        }
    }
}

extension ControlClientError: CustomStringConvertible {
    /// What happened, and why.
    public var description: String {
        switch self {
        case .unreachable(let path, let why): "nothing answers at \(path): \(why)"
        case .denied(let path): "this user may not use \(path)"
        case .forward(let error): "\(error)"
        case .timedOut(let path, let after): "no answer at \(path) within \(after.components.seconds) s"
        case .problem(let problem): "\(problem.code) \(problem.detail)"
        case .invalidAnswer(let path, let why):
            "the answer\(path.map { " of \($0)" } ?? "") is not understood: \(why)"
        case .invalidPath(let path): "there is no \(path)"
        case .cancelled: "the request was cancelled"
        }
    }
}
