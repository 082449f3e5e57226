/// Which login a device is offered next: a machine without I/O, one for each device that is talked to
/// (docs/ref/camera-notes.md, "Logins and clocks").
///
/// - A WS-UsernameToken comes first, with the time of each clock candidate that differs from those before it. As soon
///   as a refusal offers HTTP Digest, that comes next instead: it needs no clock, and when both are refused it is the
///   password.
/// - PasswordText comes last, and only when it is allowed.
/// - Three logins are shown at most until a round is over: accounts lock. Each attempt is refused once at most. When
///   the round is over, or when the login that other calls accepted is refused by one, nothing more is tried before
///   `beginRound`, which goes on where the last one ended.
public struct LoginDialogue: Equatable, Sendable {
    public enum Attempt: Equatable, Sendable {
        /// Nothing is shown.
        case open
        case token(ClockCandidates.Reading)
        case httpDigest
        case plainText(ClockCandidates.Reading)

        public var scheme: LoginScheme {
            switch self {
            case .open: .none
            case .token: .usernameToken
            case .httpDigest: .httpDigest
            case .plainText: .plainText
            }
        }
    }

    public enum Verdict: Equatable, Sendable {
        /// Send the call again, with this.
        case retry(Attempt)
        /// The device wants a user, and there is none.
        case loginNeeded
        case refused([LoginScheme])
        /// This login is good for other calls.
        case forbidden
    }

    private let hasUser: Bool
    private let allowsPlainText: Bool
    private var readings: [ClockCandidates.Reading]
    private var untried: [ClockCandidates.Reading]
    private var digestIsTried = false
    private var plainTextIsTried = false
    private var tried: [LoginScheme] = []
    private var accepted: Attempt?
    private var isOver = false
    private var shown = 0

    /// Logins that are shown in one round, unless less are said to be.
    public static let maxLogins = 3
    private let maxLogins: Int

    /// What the next call is sent with.
    public private(set) var current: Attempt

    /// - Parameter readings: those that differ, in the order in which they are tried (`ClockCandidates.distinct`); at
    ///   least one.
    public init(
        hasUser: Bool, allowsPlainText: Bool, readings: [ClockCandidates.Reading],
        maxLogins: Int = LoginDialogue.maxLogins
    ) {
        self.maxLogins = maxLogins
        self.hasUser = hasUser
        self.allowsPlainText = allowsPlainText
        self.readings = readings
        let first = readings.first ?? ClockCandidates.Reading(candidate: .own, offset: 0)
        untried = Array(readings.dropFirst())
        current = hasUser ? .token(first) : .open
    }

    /// The reading that a token was accepted with; nil before.
    public var provenReading: ClockCandidates.Reading? {
        switch accepted {
        case .token(let reading), .plainText(let reading): reading
        case .open, .httpDigest, nil: nil
        }
    }

    /// Whose time comes next, when logins were refused and none was accepted; nil otherwise.
    public var nextCandidate: ClockCandidate? {
        guard accepted == nil, !tried.isEmpty else { return nil }
        return untried.first?.candidate ?? readings.first?.candidate
    }

    /// Somebody asks again, after a while: what was not tried yet comes now, or everything again when there is nothing
    /// left. Without effect unless everything that may be shown was refused.
    public mutating func beginRound() {
        guard isOver, accepted == nil, hasUser else { return }
        let isHTTP = current == .httpDigest
        if untried.isEmpty { untried = readings }
        isOver = false
        shown = 0
        digestIsTried = false
        plainTextIsTried = false
        tried = []
        // HTTP Digest needs no clock: one refusal of it was the password.
        if isHTTP { untried = readings }
        current = .token(untried.isEmpty ? ClockCandidates.Reading(candidate: .own, offset: 0) : untried.removeFirst())
    }

    /// What a call that needs a login was let in with; nil before.
    public var provenScheme: LoginScheme? { accepted?.scheme }

    /// What `current` is, a protected call was let in with.
    public var isProven: Bool { accepted == current }

    /// What was tried, when everything was refused: then nothing is sent any more. Nil otherwise.
    public var refusedSchemes: [LoginScheme]? { isOver && accepted == nil ? tried : nil }

    /// A call that devices protect was let in.
    public mutating func wasAccepted(_ attempt: Attempt) {
        accepted = attempt
        current = attempt
    }

    /// A call was refused for its login.
    ///
    /// - Parameters:
    ///   - attempt: what it was sent with: another call may have moved on since.
    ///   - offersDigest: the answer had a challenge for HTTP Digest.
    public mutating func wasRefused(_ attempt: Attempt, offersDigest: Bool) -> Verdict {
        guard hasUser else { return .loginNeeded }
        guard attempt == current else { return .retry(current) }
        if isOver { return accepted == nil ? .refused(tried) : .forbidden }
        if !tried.contains(attempt.scheme) { tried.append(attempt.scheme) }
        shown += 1
        if shown < maxLogins, let next = next(after: attempt, offersDigest: offersDigest) {
            current = next
            return .retry(next)
        }
        isOver = true
        guard let accepted else { return .refused(tried) }
        current = accepted
        return .forbidden
    }

    private mutating func next(after attempt: Attempt, offersDigest: Bool) -> Attempt? {
        if offersDigest, !digestIsTried {
            digestIsTried = true
            return .httpDigest
        }
        // Token and Digest refused: two different failures, which no clock explains.
        // The last of a round is PasswordText's, where that may be.
        let isLast = allowsPlainText && shown == maxLogins - 1
        if !digestIsTried, !isLast, !untried.isEmpty, case .token = attempt { return .token(untried.removeFirst()) }
        if allowsPlainText, !plainTextIsTried, let reading = readings.first {
            plainTextIsTried = true
            return .plainText(reading)
        }
        return nil
    }

    /// The clock was read again, because a login that was good is no longer. True when it had moved, and the same login
    /// is worth another attempt.
    public mutating func clockWasRead(_ readings: [ClockCandidates.Reading]) -> Bool {
        guard let old = provenReading, let new = readings.first(where: { $0.candidate == old.candidate }),
            !(old.offset - 2000...old.offset + 2000).contains(new.offset)
        else { return false }
        self.readings = readings
        switch accepted {
        case .plainText: accepted = .plainText(new)
        case .token, .open, .httpDigest, nil: accepted = .token(new)
        }
        current = accepted ?? .token(new)
        isOver = true
        return true
    }
}
