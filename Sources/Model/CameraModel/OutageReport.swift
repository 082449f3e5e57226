public import ErrorCatalog

/// What is told of something that is away: that it went, summaries 1, 5, 15 and 60 minutes later and each hour from there,
/// and that it came back. Never each of the attempts in between.
///
/// Whatever it does, no more is told than `burst` words at once and one each hour, and fewer of new codes and of ends: what
/// flaps for a day writes no more than what is away for a day, and the record of how it began is not pushed out of a log of
/// bounded size. What was told last holds: who was told that it is away is told as well that it is back, or was given up.
/// Time is an argument.
public struct OutageReport: Equatable, Sendable {
    /// Words at once; one comes back each hour.
    public static let burst = 12
    /// Of codes that are new, and of ends: what flaps takes nothing from them.
    static let smallBurst = 4
    private static let wordPause = Duration.seconds(3600)
    private static let summaries: [Duration] = [.seconds(60), .seconds(300), .seconds(900), .seconds(3600)]
    /// Reasons and codes that one outage remembers to have told.
    private static let reasonLimit = 8

    /// What to tell now.
    public enum Word: Equatable, Sendable {
        /// What has just happened.
        ///
        /// - Parameter withheld: changes since the last word that were not told.
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
        /// As far as they were told.
        var reasons: [String] = []
        var isReturnSeen = false
    }

    /// Words that can be had: `burst` at once, one more each hour.
    private struct Words: Equatable, Sendable {
        let burst: Int
        private var credit: Duration
        private var filledAt: Duration?

        init(burst: Int) {
            self.burst = burst
            credit = wordPause * burst
        }

        /// - Parameter leaving: words that have to be there still afterwards.
        mutating func take(at now: Duration, leaving: Int = 0) -> Bool {
            if let filledAt, now > filledAt { credit = min(wordPause * burst, credit + (now - filledAt)) }
            filledAt = max(filledAt ?? now, now)
            guard credit >= wordPause * (leaving + 1) else { return false }
            credit -= wordPause
            return true
        }
    }

    /// It counts as over when what was away has been back for so long: shorter returns belong to it.
    private let settling: Duration
    private var outage: Outage?
    /// Since when it is back, within an outage.
    private var backSince: Duration?
    /// The last word was that it is away.
    private var isToldAway = false
    private var isEndOwed = false
    /// That were told, until it has been well for an hour.
    private var codes: [ErrorCode] = []
    private var words = Words(burst: Self.burst)
    private var codeWords = Words(burst: Self.smallBurst)
    private var endWords = Words(burst: Self.smallBurst)
    private var withheld: UInt64 = 0

    public init(settling: Duration = .seconds(60)) {
        self.settling = settling
    }

    /// Something is away, or was a moment ago.
    public var isOpen: Bool { outage != nil }

    /// Its return is to be told, if it stays, so long after it came back: somebody has to ask `returned` again then.
    public var returnDue: Duration? {
        guard let backSince, isToldAway else { return nil }
        return backSince + settling
    }

    /// It is away: it has just gone, or another attempt failed.
    ///
    /// - Parameters:
    ///   - reason: another one than before is news as well.
    ///   - code: one that was not told lately is told though other reasons have used up all words.
    ///   - isAttempt: false for who only looks on: attempts are not counted then.
    public mutating func missed(
        _ reason: String?, code: ErrorCode? = nil, at now: Duration, isAttempt: Bool = true
    ) -> Word? {
        isEndOwed = false
        if let backSince {
            if now - backSince >= settling { outage = nil } else { outage?.returns &+= 1 }
            if now - backSince >= Self.wordPause { codes = [] }
            self.backSince = nil
        }
        let isNew = outage == nil
        var outage = outage ?? Outage(began: now)
        if isAttempt { outage.attempts &+= 1 }
        self.outage = outage
        let isOther = reason.map { !outage.reasons.contains($0) && outage.reasons.count < Self.reasonLimit } ?? false
        let isCode = code.map { !codes.contains($0) && codes.count < Self.reasonLimit } ?? false
        guard isNew || isOther || isCode else { return summary(at: now) }
        // One word is left for the return.
        guard words.take(at: now, leaving: 1) || (isCode && codeWords.take(at: now, leaving: 1)) else {
            withheld &+= 1
            return nil
        }
        if isOther, let reason { outage.reasons.append(reason) }
        if isCode, let code { codes.append(code) }
        self.outage = outage
        isToldAway = true
        return told()
    }

    /// An attempt is under way; nil outside an outage, too.
    public mutating func goesOn(at now: Duration) -> Word? { summary(at: now) }

    /// It is there. Nil when that is known already; asked again later it may be told. The first return of an outage is told at
    /// once, later ones when they last: what flaps has no words for each.
    public mutating func returned(at now: Duration) -> Word? {
        isEndOwed = false
        guard var outage else { return nil }
        let since = backSince ?? now
        backSince = since
        guard isToldAway, !outage.isReturnSeen || now - since >= settling else {
            outage.isReturnSeen = true
            self.outage = outage
            return nil
        }
        outage.isReturnSeen = true
        self.outage = outage
        guard words.take(at: now) || codeWords.take(at: now) else { return nil }
        isToldAway = false
        return told()
    }

    /// Nobody wants it any more, or it is given up. Nil: no word is left for that; it stays owed.
    public mutating func ended(at now: Duration) -> Word? {
        outage = nil
        backSince = nil
        isToldAway = false
        isEndOwed = true
        return owed(at: now)
    }

    /// An end that could not be told yet.
    public mutating func owed(at now: Duration) -> Word? {
        guard isEndOwed, endWords.take(at: now) else { return nil }
        isEndOwed = false
        return told()
    }

    private mutating func told() -> Word {
        defer { withheld = 0 }
        return .news(withheld: withheld)
    }

    private mutating func summary(at now: Duration) -> Word? {
        guard var outage else { return nil }
        let lasting = now - outage.began
        guard lasting >= Self.due(outage.summaries), words.take(at: now, leaving: 1) else { return nil }
        while lasting >= Self.due(outage.summaries) { outage.summaries += 1 }
        self.outage = outage
        isToldAway = true
        withheld = 0
        return .summary(lasting: lasting, attempts: outage.attempts, returns: outage.returns)
    }

    /// When the summary of this number is due, after the beginning.
    private static func due(_ number: Int) -> Duration {
        if number < summaries.count { return summaries[number] }
        return wordPause * (number - summaries.count + 2)
    }
}

extension OutageReport.Word {
    /// For behind what has happened; empty when there is nothing to add.
    public var note: String {
        switch self {
        case .news(0): return ""
        case .news(let withheld): return " (\(withheld) change\(withheld == 1 ? "" : "s") before this were not told)"
        case .summary(let lasting, let attempts, let returns):
            let minutes = max(1, lasting / .seconds(60))
            let time = minutes < 120 ? "\(Int(minutes)) min" : "\(Int(minutes / 60)) h"
            let tries = attempts == 0 ? "" : ", \(attempts) attempt\(attempts == 1 ? "" : "s")"
            let back = returns == 0 ? "" : ", back \(returns) time\(returns == 1 ? "" : "s") for a moment"
            return " (for \(time)\(tries)\(back))"
        }
    }
}
