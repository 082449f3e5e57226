internal import ControlAPI

/// What each check says now, since when, and what became of it: findings in, changes out.
///
/// Worse is reported at once; better only after it has stayed so for a while, because a state that comes and goes is not
/// good. A check that vanishes (its camera was removed) vanishes here.
struct HealthLedger: Sendable {
    struct Key: Hashable, Sendable {
        var check: CheckName
        var object: String?
    }

    struct Change: Equatable, Sendable {
        var from: HealthState?
        var finding: Finding
        /// Seconds for which the state before had lasted.
        var lasted: Double
    }

    private struct Entry: Sendable {
        var finding: Finding
        var state: HealthState
        /// Nanoseconds since boot: a clock that is set later does not spoil it.
        var since: UInt64
        var betterSince: UInt64?
        /// By a person.
        var isSeen = false

        /// What the monitor itself knows holds for as long as it says so.
        var isAcknowledged: Bool { isSeen || finding.isAcknowledged }
    }

    private var entries: [Key: Entry] = [:]
    /// Seconds.
    private static let settle = 10.0
    /// Cameras, relays, units and cards are bounded; this is for what is not foreseen.
    private static let maxCount = 1024

    init() {}

    func state(_ check: CheckName, _ object: String? = nil) -> HealthState? {
        entries[Key(check: check, object: object)]?.state
    }

    /// - Parameters:
    ///   - findings: of one lane: all that it has to say about `checks` now.
    ///   - object: when the lane is about one object only.
    mutating func took(
        _ findings: [Finding], of checks: [CheckName], object: String? = nil, at now: HealthInstant
    ) -> [Change] {
        let reported = Set(findings.map { Key(check: $0.check, object: $0.object) })
        let gone = entries.keys.filter { key in
            checks.contains(key.check) && (object == nil || key.object == object) && !reported.contains(key)
        }
        for key in gone { entries[key] = nil }
        return findings.compactMap { took($0, at: now) }
    }

    /// Everything about an object that is not asked for any more.
    mutating func forget(_ checks: [CheckName], object: String) {
        for check in checks { entries[Key(check: check, object: object)] = nil }
    }

    private mutating func took(_ finding: Finding, at now: HealthInstant) -> Change? {
        let key = Key(check: finding.check, object: finding.object)
        guard var entry = entries[key] else {
            guard entries.count < Self.maxCount else { return nil }
            entries[key] = Entry(finding: finding, state: finding.state, since: now.uptime)
            let isTrouble = finding.state == .warn || finding.state == .fail
            return isTrouble ? Change(from: nil, finding: finding, lasted: 0) : nil
        }
        defer { entries[key] = entry }
        if finding.state == entry.state {
            if finding.cause != entry.finding.cause { entry.isSeen = false }
            entry.finding = finding
            entry.betterSince = nil
            return nil
        }
        let isTrouble = entry.state == .warn || entry.state == .fail
        if isTrouble, finding.state.severity < entry.state.severity, finding.state != .unknown {
            let since = entry.betterSince ?? now.uptime
            entry.betterSince = since
            guard now.seconds(since: since) >= Self.settle else {
                // It keeps the code and the next step of the state that is still reported.
                entry.finding.evidence = "\(finding.evidence) (better for \(now.seconds(since: since).tenths) s)"
                return nil
            }
        }
        let change = Change(from: entry.state, finding: finding, lasted: now.seconds(since: entry.since))
        entry = Entry(finding: finding, state: finding.state, since: now.uptime)
        return change
    }

    /// - Returns: false when there is no such check.
    mutating func acknowledge(_ check: CheckName, object: String?) -> Bool {
        let keys = entries.keys.filter { $0.check == check && (object == nil || $0.object == object) }
        for key in keys { entries[key]?.isSeen = true }
        return !keys.isEmpty
    }

    /// By name, then by object.
    func checks(at now: HealthInstant) -> [HealthCheck] {
        entries.values.map { entry in
            HealthCheck(
                check: entry.finding.check.rawValue, object: entry.finding.object, state: entry.state,
                since: now.realtimeSeconds - Int64(now.seconds(since: entry.since)), evidence: entry.finding.evidence,
                code: entry.finding.code, hint: entry.finding.hint, isAcknowledged: entry.isAcknowledged)
        }
        .sorted { ($0.check, $0.object ?? "") < ($1.check, $1.object ?? "") }
    }

    /// The worst of those that are known; `unknown` when none is. What was acknowledged troubles nobody.
    var worst: HealthState {
        entries.values.map { $0.isAcknowledged && $0.state.severity > HealthState.ok.severity ? .ok : $0.state }
            .max { $0.severity < $1.severity } ?? .unknown
    }

    /// Of each check the worst over its objects.
    var worstByCheck: [CheckName: HealthState] {
        Dictionary(entries.map { ($0.key.check, $0.value.state) }) { $0.severity >= $1.severity ? $0 : $1 }
    }
}
