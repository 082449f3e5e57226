internal import ErrorCatalog

/// When the box's token is looked at again, and what is to be said of it. Without I/O; chance is an argument.
struct TokenCare {
    /// Between two looks at a token that is well.
    static let period = Duration.seconds(3600)
    /// After a renewal that failed: doubled each time, up to the period.
    static let firstRetry = Duration.seconds(60)
    /// Of a token that has ended: whether its owner readmitted the box.
    static let daily = Duration.seconds(86_400)
    /// Before the end, in seconds: a week.
    static let warning = 7 * daily.components.seconds

    /// What there is to say.
    enum Standing: Equatable {
        case well
        case endsSoon
        case ended

        var code: ErrorCode? {
            switch self {
            case .well: nil
            case .endsSoon: .tokenEndsSoon
            case .ended: .tokenEnded
            }
        }
    }

    /// Of `CLOCK_BOOTTIME`: the next look.
    private(set) var dueAt = Duration.zero
    private var failures = 0
    /// Why the last renewal failed; nil after one that did not.
    private(set) var problem: String?
    private var reported: (standing: Standing, at: Int64)?

    static func standing(expiresAt: Int64, now: Int64) -> Standing {
        expiresAt <= now ? .ended : expiresAt - now < warning ? .endsSoon : .well
    }

    /// Another token came: it is looked at at once.
    mutating func tokenChanged() { self = TokenCare() }

    /// A camera is there that may lack a token of its own.
    mutating func cameraCame() { dueAt = .zero }

    /// The token is well: the next look is a period later.
    ///
    /// - Parameter random: any 64 random bits.
    mutating func foundWell(at instant: Duration, random: UInt64) {
        dueAt = instant + Self.jittered(Self.period, random)
    }

    mutating func renewed() {
        failures = 0
        problem = nil
    }

    /// - Parameter isRefused: the token has ended and the server does not renew it: its owner has to do something.
    mutating func failed(_ why: String, isRefused: Bool, at instant: Duration, random: UInt64) {
        problem = why
        let pause = isRefused ? Self.daily : min(Self.firstRetry * (1 << min(failures, 10)), Self.period)
        failures += 1
        dueAt = instant + Self.jittered(pause, random)
    }

    /// Whether the standing is to be reported now: when it differs from before, and once a day while it is bad.
    ///
    /// - Parameter now: Unix seconds.
    mutating func reports(_ standing: Standing, now: Int64) -> Bool {
        let isNew = reported.map { $0.standing != standing } ?? (standing != .well)
        let isDue = standing != .well && (reported.map { now - $0.at >= Self.daily.components.seconds } ?? true)
        guard isNew || isDue else { return false }
        reported = (standing, now)
        return true
    }

    /// Between nine tenths of it and all of it: boxes that were set up together ask one after the other.
    private static func jittered(_ pause: Duration, _ random: UInt64) -> Duration {
        pause - pause / 10 * (Double(random % 1000) / 1000)
    }
}
