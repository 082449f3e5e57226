internal import Glibc

extension SystemdError {
    /// The C library's words for an `errno`.
    static func text(of number: Int32) -> String {
        // Safe from any thread since glibc 2.32.
        guard let text = strerror(number) else { return "error \(number)" }
        return String(cString: text)
    }

    /// What a failed system call means for somebody who asked for `what`.
    static func failed(_ call: String, _ number: Int32, _ what: String) -> SystemdError {
        switch number {
        case EACCES, EPERM: .denied(what)
        case ENOENT, ECONNREFUSED, ENOTCONN, ECONNRESET, EPIPE: .unavailable("\(what): \(text(of: number))")
        case ETIMEDOUT: .timedOut(what)
        default: .system(call: call, errno: number)
        }
    }
}
