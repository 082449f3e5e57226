/// What a person reads when a command fails: what happened, why, and what to do next.
public struct CommandFailure: Error, Sendable, Encodable, CustomStringConvertible {
    public var what: String
    public var why: String
    public var hint: String
    public var status: ExitStatus

    public init(what: String, why: String, hint: String, status: ExitStatus = .failed) {
        self.what = what
        self.why = why
        self.hint = NextStep.text(hint)
        self.status = status
    }

    public var description: String { "\(what): \(why).\nNext: \(hint)" }

    private enum CodingKeys: String, CodingKey {
        case what, why, hint, status
    }
}

/// One step, as it is written after a label.
public enum NextStep {
    /// Without the imperative of the error catalog: `Next: systemctl …`, not `Next: Run: systemctl …`.
    public static func text(_ step: String) -> String {
        step.hasPrefix("Run: ") || step.hasPrefix("run: ") ? String(step.dropFirst(5)) : step
    }
}

/// Exit codes of every program: below 64, away from systemd's 200 and above.
public enum ExitStatus: Int32, Sendable, Encodable {
    case ok = 0
    case failed = 1
    case usage = 2
    case degraded = 3
    case notFound = 4
    case daemonUnreachable = 5
    case notPermitted = 6
    /// A remote peer cannot be reached, or did not answer in time.
    case remoteUnreachable = 7
    case invalidConfiguration = 8
    case conflict = 9
    case abortedByUser = 10
    case rebootRequired = 11
    /// What was played was old: a recording, which was not allowed.
    case staleStream = 12
    /// What was played is another stream than was asked for.
    case otherStream = 13
    /// Frames came in another order than they were sealed in.
    case disorderedStream = 14
    /// The end of a stream, or of a collection in it, never came.
    case truncatedStream = 15
    /// The device that was asked for has not signed for what was played.
    case otherPublisher = 16
}
