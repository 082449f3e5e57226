internal import Systemd

/// Lack of memory over the last 10 minutes, from counters that begin at 0 whenever their group is made again.
///
/// An incident is what one look sees, however many processes the kernel ended in it. It is either a unit's, which came
/// to its own limit (`MemoryMax=`): a fault of that unit, and no step beyond it can help. Or it is the box's: the
/// kernel ended a process of ours, and no limit of ours was reached. What is ended outside WatchBox, a container at its own
/// limit for instance, is reported, and is not a reason for anything.
///
/// A limit of ours that no living group has reached belongs to a unit that systemd has started again (a new group
/// counts from 0), or to the slice itself: a limit of ours in any case, and never the box's lack. Whose it was, systemd
/// says: the unit with `Result=oom-kill`, else one that it restarted about then.
///
/// The odd case: both within one look cannot be told apart, and counts as the unit's. A reboot for nothing costs every
/// camera; a box that is out of memory goes on being so, and the next look sees it.
struct MemoryIncidents: Sendable {
    private enum Place: Hashable {
        case box
        case unit(String)
        /// A limit of ours, nobody knows whose (yet).
        case ourLimit
        case besideUs
    }

    private struct Ended {
        var restarts: UInt32
        var result: String
        /// Nanoseconds since boot; nil: not since the first look.
        var at: UInt64?
        var isForMemory = false
    }

    private var counters: [String: GroupReading.Counts] = [:]
    private var total: Int64?
    private var incidents: [(place: Place, at: UInt64)] = []
    private var isPrimed = false
    private var ended: [String: Ended] = [:]

    private static let window = 600.0
    /// Seconds for which a unit is reported to be fine again.
    private static let farewell = 60.0
    private static let slice = "watchbox.slice"
    private static let maxCount = 256
    /// Seconds between an incident and what systemd says of it: both are looked at in turns of up to 10 s.
    private static let skew = 25.0
    /// So many of the box within the window are a loop that restarts do not end.
    static let loop = 5

    init() {}

    /// - Parameter total: processes that the kernel ended, of all groups; nil when it does not report them.
    mutating func took(_ groups: GroupReading, total: Int64?, at now: HealthInstant) {
        defer {
            self.total = total
            counters = groups.units
            counters[Self.slice] = groups.slice
            isPrimed = true
            incidents.removeAll { now.seconds(since: $0.at) > Self.window + Self.farewell }
        }
        // What was counted before the monitor looked for the first time is history.
        guard isPrimed else { return }
        var reported = GroupReading.Counts()
        var isUnexplained = false
        for (unit, counts) in groups.units {
            let news = Self.news(counts, since: counters[unit])
            reported.killed += news.killed
            reported.atOwnLimit += news.atOwnLimit
            guard news.killed > 0 else { continue }
            if news.atOwnLimit > 0 { add(.unit(unit), now) } else { isUnexplained = true }
        }
        var isAtOurLimit = false
        if let slice = groups.slice, let before = counters[Self.slice] {
            let news = Self.news(slice, since: before)
            isAtOurLimit = news.atOwnLimit > reported.atOwnLimit
            if news.killed > reported.killed {
                isUnexplained = true
                reported = news
            }
        }
        if isUnexplained { add(isAtOurLimit ? .ourLimit : .box, now) }
        attribute(now)
        if let total, let before = self.total, total - before > reported.killed { add(.besideUs, now) }
    }

    /// What systemd says of the units: whose end it was.
    mutating func took(_ units: [UnitState], at now: HealthInstant) {
        ended = ended.filter { entry in units.contains { $0.name == entry.key } }
        for unit in units {
            var entry = ended[unit.name] ?? Ended(restarts: unit.restarts, result: unit.result)
            let isForMemory = unit.result == "oom-kill" && entry.result != unit.result
            if isForMemory || unit.restarts > entry.restarts {
                // First seen as killed, then as restarted: that is one end.
                let isSame = entry.isForMemory && entry.at.map { now.seconds(since: $0) < Self.skew } == true
                entry.isForMemory = isForMemory || isSame
                entry.at = now.uptime
            }
            entry.restarts = unit.restarts
            entry.result = unit.result
            ended[unit.name] = entry
        }
        attribute(now)
    }

    private mutating func attribute(_ now: HealthInstant) {
        for index in incidents.indices where incidents[index].place == .ourLimit {
            let at = incidents[index].at
            let about = ended.filter { entry in
                entry.value.at.map { Double(max($0, at) - min($0, at)) / 1e9 <= Self.skew } == true
            }
            let surest = about.filter(\.value.isForMemory)
            // Two that were restarted at once, and neither said to be killed: nobody is accused.
            let names = surest.isEmpty ? (about.count == 1 ? Array(about.keys) : []) : surest.keys.sorted()
            if let name = names.first { incidents[index].place = .unit(name) }
        }
    }

    /// At a limit of ours, nobody knows whose.
    func atOurLimit(at now: HealthInstant) -> Int { count(.ourLimit, now) }

    /// Incidents of the box in a row that goes on; 0 when it has ended.
    func loop(at now: HealthInstant) -> Int {
        guard let newest = incidents.last(where: { $0.place == .box }), now.seconds(since: newest.at) < 120 else {
            return 0
        }
        return count(.box, now)
    }

    func ofTheBox(at now: HealthInstant) -> Int { count(.box, now) }

    func besideUs(at now: HealthInstant) -> Int { count(.besideUs, now) }

    /// Of each unit that had one; 0 for those that had their last one a little more than 10 minutes ago.
    func units(at now: HealthInstant) -> [(unit: String, count: Int)] {
        let units = Set(incidents.compactMap { if case .unit(let unit) = $0.place { unit } else { nil } })
        return units.sorted().map { ($0, count(.unit($0), now)) }
    }

    private func count(_ place: Place, _ now: HealthInstant) -> Int {
        incidents.count { $0.place == place && now.seconds(since: $0.at) <= Self.window }
    }

    private static func news(
        _ counts: GroupReading.Counts, since before: GroupReading.Counts?
    ) -> GroupReading.Counts {
        // A group that counts less than before is another one.
        guard let before, counts.killed >= before.killed, counts.atOwnLimit >= before.atOwnLimit else { return counts }
        return GroupReading.Counts(
            killed: counts.killed - before.killed, atOwnLimit: counts.atOwnLimit - before.atOwnLimit)
    }

    private mutating func add(_ place: Place, _ now: HealthInstant) {
        if incidents.count == Self.maxCount { incidents.removeFirst() }
        incidents.append((place, now.uptime))
    }
}
