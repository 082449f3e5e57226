/// How many events of one camera the box's history takes: a few at once, then a few each minute, and of the rest one
/// number a minute. A camera that floods, or whoever feeds it, must not push out what happened to the others.
struct EventAllowance {
    /// At once.
    static let burst = 8
    static let perMinute = 6
    static let summaryPause = Duration.seconds(60)

    /// What one event costs.
    private static let cost = Duration.seconds(60) / perMinute

    private var credit = cost * burst
    private var filledAt: Duration?
    private var withheld: UInt64 = 0
    private var summedUpAt: Duration?

    /// - Parameters:
    ///   - requested: how many there are to report.
    ///   - now: of `CLOCK_BOOTTIME`.
    /// - Returns: how many of them may be reported one by one.
    mutating func take(_ requested: Int, at now: Duration) -> Int {
        if let filledAt, now > filledAt { credit = min(Self.cost * Self.burst, credit + (now - filledAt)) }
        filledAt = max(filledAt ?? now, now)
        let taken = min(max(0, requested), Int(credit / Self.cost))
        credit -= Self.cost * taken
        return taken
    }

    /// So many were not reported.
    mutating func withhold(_ count: UInt64) {
        let (sum, isTooMuch) = withheld.addingReportingOverflow(count)
        withheld = isTooMuch ? .max : sum
    }

    /// How many were not reported since the last summary; nil: none, or it is too early to say so again.
    mutating func summary(at now: Duration) -> UInt64? {
        guard withheld > 0, summedUpAt.map({ now - $0 >= Self.summaryPause }) ?? true else { return nil }
        defer { withheld = 0 }
        summedUpAt = now
        return withheld
    }
}
