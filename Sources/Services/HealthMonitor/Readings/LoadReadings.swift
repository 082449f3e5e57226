internal import BoxReadings
internal import Platform

/// What the kernel counted of lacking memory in the control groups of WatchBox's own units.
struct GroupReading: Equatable, Sendable {
    /// Of `memory.events`, with what is below the group (cgroup-v2, "Memory Interface Files").
    struct Counts: Equatable, Sendable {
        /// Processes that were ended, by whatever limit; of one incident there may be several.
        var killed: Int64 = 0
        /// `oom`: an allocation failed at this group's own limit. A box that is out of memory does not count here.
        var atOwnLimit: Int64 = 0
    }

    /// By unit.
    var units: [String: Counts] = [:]
    /// Of all of WatchBox's slice, with groups that are gone by now; nil when the kernel does not report it.
    var slice: Counts?

    private static let deepest = 4

    static func read(_ paths: HealthPaths) -> GroupReading {
        var reading = GroupReading()
        reading.collect("\(paths.box.systemRoot)/fs/cgroup", depth: 0)
        return reading
    }

    private static func counts(_ group: String) -> Counts? {
        let lines = (SmallFile.text("\(group)/memory.events") ?? "").split(separator: "\n")
        func count(_ name: String) -> Int64? {
            lines.first { $0.hasPrefix("\(name) ") }.flatMap { Int64($0.dropFirst(name.utf8.count + 1)) }
        }
        return count("oom_kill").map { Counts(killed: $0, atOwnLimit: count("oom") ?? 0) }
    }

    private mutating func collect(_ directory: String, depth: Int) {
        for name in SmallFile.names(in: directory) {
            let path = "\(directory)/\(name)"
            if name.hasPrefix("watchbox"), name.hasSuffix(".service") {
                if let counts = Self.counts(path) { units[name] = counts }
            } else if name.hasSuffix(".slice"), depth < Self.deepest {
                if name == "watchbox.slice" { slice = Self.counts(path) }
                collect(path, depth: depth + 1)
            }
        }
    }
}

/// Processes that wait in the kernel and cannot be interrupted (state D).
struct TaskReading: Equatable, Sendable {
    struct Waiting: Hashable, Sendable {
        var processIdentifier: Int32
        var name: String
        /// In ticks since boot: with the number it names one process for ever.
        var startTime: UInt64
        /// Times it was given a processor: as long as it grows, it is slow, not stuck.
        var slices: UInt64
        /// The unit it belongs to; nil when it is not one of WatchBox's.
        var unit: String?
    }

    /// False when this process may see only its own (`ProtectProc=`).
    var seesOthers = false
    var waiting: [Waiting] = []

    /// PF_KTHREAD: drivers' own threads may sit in D for good without any harm.
    private static let kernelThread: UInt64 = 0x0020_0000
    private static let maxCount = 64

    static func read(_ paths: HealthPaths) -> TaskReading {
        var reading = TaskReading(seesOthers: SmallFile.exists("\(paths.box.processRoot)/1/stat"))
        guard reading.seesOthers else { return reading }
        for name in SmallFile.names(in: paths.box.processRoot) {
            guard let number = Int32(name), reading.waiting.count < maxCount,
                let text = SmallFile.line("\(paths.box.processRoot)/\(name)/stat"), let stat = Stat(text),
                stat.state == "D", stat.flags & kernelThread == 0
            else { continue }
            let slices = SmallFile.line("\(paths.box.processRoot)/\(name)/schedstat")?.split(separator: " ").last
                .flatMap { UInt64($0) }
            reading.waiting.append(
                Waiting(
                    processIdentifier: number, name: stat.name, startTime: stat.startTime,
                    slices: slices ?? stat.ticks,
                    unit: SmallFile.line("\(paths.box.processRoot)/\(name)/cgroup").flatMap(unit)))
        }
        return reading
    }

    /// `0::/watchbox.slice/watchbox-camera@front.service` as `watchbox-camera@front.service`.
    static func unit(_ groups: String) -> String? {
        groups.split(separator: "/").last { $0.hasPrefix("watchbox") && $0.contains(".service") }
            .map { SmallFile.trimmed($0.split(separator: "\n")[0]) }
    }

    /// proc_pid_stat(5), as far as it is needed.
    struct Stat: Equatable {
        var name: String
        var state: Substring
        var flags: UInt64
        /// Of user and kernel time together.
        var ticks: UInt64
        var startTime: UInt64

        init?(_ text: String) {
            // The name may hold spaces and parentheses: the last ")" ends it.
            guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else {
                return nil
            }
            let fields = text[text.index(after: close)...].split(separator: " ")
            guard fields.count > 19, let flags = UInt64(fields[6]), let user = UInt64(fields[11]),
                let system = UInt64(fields[12]), let start = UInt64(fields[19])
            else { return nil }
            name = String(text[text.index(after: open)..<close])
            state = fields[0]
            self.flags = flags
            ticks = user &+ system
            startTime = start
        }
    }
}
