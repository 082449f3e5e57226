internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog

/// Memory, processor, and processes that hang.
enum LoadChecks {
    /// Of the box, and of each unit that came to its own limit.
    static func memory(
        _ pressure: Double?, _ incidents: MemoryIncidents, limits: HealthThresholds.Pair, was: HealthState?,
        at now: HealthInstant
    ) -> [Finding] {
        [box(pressure, incidents, limits: limits, was: was, at: now)]
            + incidents.units(at: now).map { unit, count in
                let name = unit.hasSuffix(".service") ? String(unit.dropLast(".service".count)) : unit
                guard count > 0 else {
                    return Finding(.memory, name, .ok, "within its memory for the last 10 min")
                }
                return Finding(
                    .memory, name, .fail,
                    "it reached its own memory limit \(count)× in the last 10 min, and the kernel ended processes of it",
                    code: .processKilledForMemory,
                    hint: "Lower size or rate of what it does, or give it more: systemctl edit '\(name)', MemoryMax=")
            }
    }

    private static func box(
        _ pressure: Double?, _ incidents: MemoryIncidents, limits: HealthThresholds.Pair, was: HealthState?,
        at now: HealthInstant
    ) -> Finding {
        let next = "See what needs it: systemd-cgtop --order=memory"
        let (ours, others) = (incidents.ofTheBox(at: now), incidents.besideUs(at: now))
        let limited = incidents.atOurLimit(at: now)
        func fail(_ cause: String, _ evidence: String) -> Finding {
            var finding = Finding(.memory, nil, .fail, evidence, code: .processKilledForMemory, hint: next)
            finding.cause = cause
            return finding
        }
        if ours > 0 {
            return fail(
                "box",
                "the box ran out of memory \(ours)× in the last 10 min, and the kernel ended processes of WatchBox")
        }
        if limited > 0 {
            return fail(
                "limit",
                "a memory limit of a WatchBox unit or of watchbox.slice was reached \(limited)× in the last 10 min, and the kernel ended processes"
            )
        }
        if others > 0 {
            return fail(
                "others",
                "the kernel ended processes other than WatchBox's for lack of memory \(others)× in the last 10 min")
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
