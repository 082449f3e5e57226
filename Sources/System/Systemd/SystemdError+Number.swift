internal import Glibc
internal import Platform

extension SystemdError {
    /// What a failed system call means for somebody who asked for `what`.
    static func failed(_ call: String, _ number: Int32, _ what: String) -> SystemdError {
        switch number {
        case EACCES, EPERM: .denied(what)
        case ENOENT, ECONNREFUSED, ENOTCONN, ECONNRESET, EPIPE: .unavailable("\(what): \(SystemMessage.text(number))")
        case ETIMEDOUT: .timedOut(what)
        default: .system(call: call, errno: number)
        }
    }
}
