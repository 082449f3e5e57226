public import ErrorCatalog

/// What is reported of something that is away: that it went, summaries 1, 5, 15 and 60 minutes later and each hour from there,
/// and that it came back. Never each of the attempts in between.
///
/// Whatever it does, no more is reported than `burst` notices at once and one each hour, and fewer of new codes and of ends: what
/// flaps for a day writes no more than what is away for a day, and the record of how it began is not pushed out of a log of
/// bounded size. What was reported last holds: when it was reported away, it is reported as well that it is back, or was given up.
/// Time is an argument.
public struct OutageReport: Equatable, Sendable {
    /// Notices at once; one comes back each hour.
    public static let burst = 12
    /// Of codes that are new, and of ends: what flaps takes nothing from them.
    static let smallBurst = 4
    private static let noticePause = Duration.seconds(3600)
    private static let summaries: [Duration] = [.seconds(60), .seconds(300), .seconds(900), .seconds(3600)]
    /// Reasons and codes that one outage remembers to have reported.
    private static let reasonLimit = 8

    /// What to report now.
    public enum Notice: Equatable, Sendable {
        /// What has just happened.
        ///
        /// - Parameter withheld: changes since the last notice that were not reported.
        case news(withheld: UInt64)
        /// It goes on.
        ///
        /// - Parameters:
        ///   - lasting: since the beginning.
        ///   - attempts: since then.
        ///   - returns: how often it was back in between for a moment.
        case summary(lasting: Duration, attempts: UInt64, returns: UInt64)
    }

    private struct Outage: Equatable, Sendable {
        var began: Duration
        var attempts: UInt64 = 0
        var returns: UInt64 = 0
        /// How many summaries are due by now.
        var summaries = 0
        /// As far as they were reported.
        var reasons: [String] = []
        var isReturnSeen = false
    }

    /// Notices that can be had: `burst` at once, one more each hour.
    private struct Allowance: Equatable, Sendable {
        let burst: Int
        private var credit: Duration
        private var filledAt: Duration?

        init(burst: Int) {
            self.burst = burst
            credit = noticePause * burst
        }

        /// - Parameter leaving: notices that must still be there afterwards.
        mutating func take(at now: Duration, leaving: Int = 0) -> Bool {
            if let filledAt, now > filledAt { credit = min(noticePause * burst, credit + (now - filledAt)) }
            filledAt = max(filledAt ?? now, now)
            guard credit >= noticePause * (leaving + 1) else { return false }
            credit -= noticePause
            return true
        }
    }

    /// It counts as over when what was away has been back for so long: shorter returns belong to it.
    private let settling: Duration
    private var outage: Outage?
    /// Since when it is back, within an outage.
    private var backSince: Duration?
    /// The last notice was that it is away.
    private var isReportedAway = false
    private var isEndOwed = false
    /// That were reported, until it has been well for an hour.
    private var codes: [ErrorCode] = []
    private var allowance = Allowance(burst: Self.burst)
    private var codeAllowance = Allowance(burst: Self.smallBurst)
    private var endAllowance = Allowance(burst: Self.smallBurst)
    private var withheld: UInt64 = 0

    public init(settling: Duration = .seconds(60)) {
        self.settling = settling
    }

    /// Something is away, or was a moment ago.
    public var isOpen: Bool { outage != nil }

    /// Its return is to be reported, if it stays, so long after it came back: `returned` must be asked again then.
    public var returnDue: Duration? {
        guard let backSince, isReportedAway else { return nil }
        return backSince + settling
    }

    /// It is away: it has just gone, or another attempt failed.
    ///
    /// - Parameters:
    ///   - reason: another one than before is news as well.
    ///   - code: one that was not reported lately is reported though other reasons have used up all notices.
    ///   - isAttempt: false for who only looks on: attempts are not counted then.
    public mutating func missed(
        _ reason: String?, code: ErrorCode? = nil, at now: Duration, isAttempt: Bool = true
    ) -> Notice? {
        isEndOwed = false
        if let backSince {
            if now - backSince >= settling { outage = nil } else { outage?.returns &+= 1 }
            if now - backSince >= Self.noticePause { codes = [] }
            self.backSince = nil
        }
        let isNew = outage == nil
        var outage = outage ?? Outage(began: now)
        if isAttempt { outage.attempts &+= 1 }
        self.outage = outage
        let isOther = reason.map { !outage.reasons.contains($0) && outage.reasons.count < Self.reasonLimit } ?? false
        let isCode = code.map { !codes.contains($0) && codes.count < Self.reasonLimit } ?? false
        guard isNew || isOther || isCode else { return summary(at: now) }
        // One notice is left for the return.
        guard allowance.take(at: now, leaving: 1) || (isCode && codeAllowance.take(at: now, leaving: 1)) else {
            withheld &+= 1
            return nil
        }
        if isOther, let reason { outage.reasons.append(reason) }
        if isCode, let code { codes.append(code) }
        self.outage = outage
        isReportedAway = true
        return notice()
    }

    /// An attempt is under way; nil outside an outage, too.
    public mutating func goesOn(at now: Duration) -> Notice? { summary(at: now) }

    /// It is there. Nil when that is known already; asked again later it may be reported. The first return of an outage is reported
    /// at once, later ones when they last: what flaps has no notices for each.
    public mutating func returned(at now: Duration) -> Notice? {
        isEndOwed = false
        guard var outage else { return nil }
        let since = backSince ?? now
        backSince = since
        guard isReportedAway, !outage.isReturnSeen || now - since >= settling else {
            outage.isReturnSeen = true
            self.outage = outage
            return nil
        }
        outage.isReturnSeen = true
        self.outage = outage
        guard allowance.take(at: now) || codeAllowance.take(at: now) else { return nil }
        isReportedAway = false
        return notice()
    }

    /// It is not needed any more, or is given up. Nil: no notice is left for that; it stays owed.
    public mutating func ended(at now: Duration) -> Notice? {
        outage = nil
        backSince = nil
        isReportedAway = false
        isEndOwed = true
        return owed(at: now)
    }

    /// An end that could not be reported yet.
    public mutating func owed(at now: Duration) -> Notice? {
        guard isEndOwed, endAllowance.take(at: now) else { return nil }
        isEndOwed = false
        return notice()
    }

    private mutating func notice() -> Notice {
        defer { withheld = 0 }
        return .news(withheld: withheld)
    }

    private mutating func summary(at now: Duration) -> Notice? {
        guard var outage else { return nil }
        let lasting = now - outage.began
        guard lasting >= Self.due(outage.summaries), allowance.take(at: now, leaving: 1) else { return nil }
        while lasting >= Self.due(outage.summaries) { outage.summaries += 1 }
        self.outage = outage
        isReportedAway = true
        withheld = 0
        return .summary(lasting: lasting, attempts: outage.attempts, returns: outage.returns)
    }

    /// When the summary of this number is due, after the beginning.
    private static func due(_ number: Int) -> Duration {
        if number < summaries.count { return summaries[number] }
        return noticePause * (number - summaries.count + 2)
    }
}

extension OutageReport.Notice {
    /// For behind what has happened; empty when there is nothing to add.
    public var note: String {
        switch self {
        case .news(0): return ""
        case .news(let withheld):
            return
                " (\(withheld) \(withheld == 1 ? "change before this was" : "changes before this were") not reported)"
        case .summary(let lasting, let attempts, let returns):
            let minutes = max(1, lasting / .seconds(60))
            let time = minutes < 120 ? "\(Int(minutes)) min" : "\(Int(minutes / 60)) h"
            let tries = attempts == 0 ? "" : ", \(attempts) attempt\(attempts == 1 ? "" : "s")"
            let back = returns == 0 ? "" : ", back \(returns) time\(returns == 1 ? "" : "s") for a moment"
            return " (for \(time)\(tries)\(back))"
        }
    }
}
