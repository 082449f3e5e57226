internal import ControlAPI
internal import ErrorCatalog

/// Memory, processor, and processes that hang.
enum LoadChecks {
    /// - Parameter killed: processes that were ended for lack of memory in the last 10 minutes, by unit; `other` for
    ///   those that are not ours.
    static func memory(
        _ pressure: Double?, killed: [String: Int], limits: HealthThresholds.Pair, was: HealthState?
    ) -> Finding {
        let kills = killed.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        if !kills.isEmpty {
            let list = kills.map { "\($0.key) \($0.value)×" }.joined(separator: ", ")
            return Finding(
                .memory, nil, .fail, "ended for lack of memory in the last 10 min: \(list)",
                code: .processKilledForMemory)
        }
        guard let pressure else {
            return Finding(.memory, nil, .unknown, "the kernel does not measure memory pressure (psi=1)")
        }
        return Finding(
            .memory, nil, limits.state(pressure, was: was, slack: 0.02),
            "in \(pressure.percent) of the last minute something waited for memory", code: .memoryPressure)
    }

    static func processor(_ pressure: Double?, limits: HealthThresholds.Pair, was: HealthState?) -> Finding {
        guard let pressure else {
            return Finding(.cpu, nil, .unknown, "the kernel does not measure processor pressure (psi=1)")
        }
        return Finding(
            .cpu, nil, limits.state(pressure, was: was, slack: 0.05),
            "in \(pressure.percent) of the last minute something waited for a processor", code: .processorPressure)
    }
}

/// Kills for lack of memory over the last 10 minutes, from counters that begin at 0 whenever their group is made anew.
struct MemoryKills: Sendable {
    private var counters: [String: Int64] = [:]
    private var kills: [(name: String, at: UInt64)] = []
    private var isPrimed = false

    private static let window = 600.0
    /// So many within the window are a loop that restarts do not end.
    static let loop = 5

    init() {}

    mutating func took(_ groups: GroupReading, total: Int64?, at now: HealthInstant) {
        var ours = 0
        for (unit, count) in groups.killed {
            let before = counters[unit] ?? 0
            // What was counted before the monitor looked for the first time is history.
            if isPrimed { ours += add(unit, count >= before ? count - before : count, now) }
            counters[unit] = count
        }
        counters = counters.filter { groups.killed[$0.key] != nil || $0.key == Self.total || $0.key == Self.slice }
        // A unit that systemd starts again gets a new group: the kill that ended the old one is only in the slice's count.
        if let count = groups.inSlice {
            if isPrimed, let before = counters[Self.slice], count - before > ours {
                ours += add(Self.slice, count - before - Int64(ours), now)
            }
            counters[Self.slice] = count
        }
        if let total {
            // What the kernel counts beyond that is told too.
            if isPrimed, let before = counters[Self.total], total - before > ours {
                _ = add(Self.other, total - before - Int64(ours), now)
            }
            counters[Self.total] = total
        }
        isPrimed = true
        kills.removeAll { now.seconds(since: $0.at) > Self.window }
    }

    /// Kills of our own processes in a row that goes on; 0 when it has ended. What is killed beside us, a container at
    /// its own limit for instance, is no reason to reboot.
    func ourLoop(at now: HealthInstant) -> Int {
        let ours = kills.filter { $0.name != Self.other }
        guard let newest = ours.last, now.seconds(since: newest.at) < 120 else { return 0 }
        return ours.count
    }

    var byName: [String: Int] { Dictionary(grouping: kills, by: \.name).mapValues(\.count) }

    private static let total = "total"
    private static let other = "other"
    private static let slice = "watchbox.slice"

    private mutating func add(_ name: String, _ count: Int64, _ now: HealthInstant) -> Int {
        let count = Int(max(min(count, 64), 0))
        for _ in 0..<count where kills.count < 256 { kills.append((name, now.uptime)) }
        return count
    }
}

/// Which tasks have been waiting in the kernel, without a moment on a processor, and for how long.
struct StuckTasks: Sendable {
    private var since: [TaskReading.Waiting: UInt64] = [:]

    init() {}

    struct Stuck: Equatable, Sendable {
        var task: TaskReading.Waiting
        var seconds: Double
    }

    /// - Returns: those that have been stuck for at least `seconds`, longest first.
    mutating func took(_ reading: TaskReading, seconds: Double, at now: HealthInstant) -> [Stuck] {
        var next: [TaskReading.Waiting: UInt64] = [:]
        for task in reading.waiting { next[task] = since[task] ?? now.uptime }
        since = next
        return since.map { Stuck(task: $0.key, seconds: now.seconds(since: $0.value)) }
            .filter { $0.seconds >= seconds }
            .sorted { ($0.seconds, $1.task.processIdentifier) > ($1.seconds, $0.task.processIdentifier) }
    }

    static func finding(_ reading: TaskReading, stuck: [Stuck]) -> Finding {
        guard reading.seesOthers else {
            return Finding(
                .tasks, nil, .unknown,
                "processes of other users are hidden from this unit (ProtectProc=invisible): one that hangs in the kernel is not seen, and leads to no reboot"
            )
        }
        guard let worst = stuck.first(where: { $0.task.unit != nil }) ?? stuck.first else {
            return Finding(.tasks, nil, .ok, "no process hangs in the kernel")
        }
        let place = worst.task.unit.map { " of \($0)" } ?? ""
        return Finding(
            .tasks, nil, worst.task.unit == nil ? .warn : .fail,
            "\(worst.task.name) (\(worst.task.processIdentifier))\(place) has hung in the kernel for \(worst.seconds.tenths) s"
                + (stuck.count > 1 ? ", and \(stuck.count - 1) more" : ""),
            code: .stuckTask)
    }
}
