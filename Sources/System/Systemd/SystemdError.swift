internal import Platform

/// Why systemd, the bus or the journal did not do what was asked. Never holds a secret.
public enum SystemdError: Error, Equatable, Sendable {
    /// No bus, no socket, no journal; the text says which, and why.
    case unavailable(String)
    /// polkit or the kernel refused; the text says what was asked.
    case denied(String)
    /// PID 1 finds no unit of this name.
    case noSuchUnit(String)
    /// PID 1 took the job and it did not succeed, or refused to make one. Result: PID 1's term, such as "failed",
    /// "timeout", "dependency", "canceled", "masked".
    case jobFailed(unit: String, result: String)
    /// No answer before the deadline; the text says what was asked.
    case timedOut(String)
    /// A bad name or bad data, from the caller or in an answer.
    case invalid(String)
    /// A call to the operating system failed in a way that has no case of its own.
    case system(call: String, errno: Int32)
}

extension SystemdError: CustomStringConvertible {
    /// What happened, and why.
    public var description: String {
        switch self {
        case .unavailable(let what): "not available: \(what)"
        case .denied(let what): "not permitted: \(what)"
        case .noSuchUnit(let unit): "there is no unit \(unit)"
        case .jobFailed(let unit, let result): "\(unit): the job ended with \"\(result)\""
        case .timedOut(let what): "no answer in time: \(what)"
        case .invalid(let what): "invalid: \(what)"
        case .system(let call, let number): "\(call) failed: \(SystemMessage.text(number))"
        }
    }

    /// What the operator can do next.
    public var hint: String {
        switch self {
        case .unavailable: "Check that this machine runs systemd, dbus and systemd-journald."
        case .denied: "Check the polkit rules and the groups of WatchBox's users; the package installs both."
        case .noSuchUnit: "Check that the package's unit files are installed, then run \"systemctl daemon-reload\"."
        case .jobFailed(let unit, _): "Read \"systemctl status \(unit)\" and \"journalctl -u \(unit)\"."
        case .timedOut: "Try again; \"systemctl list-jobs\" shows what PID 1 waits for."
        case .invalid: "Correct the name or the data."
        case .system: "Try again; if it persists, the machine's journal says more."
        }
    }
}
