internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

/// What systemd says of WatchBox's units, over the last 10 minutes.
struct UnitWatch: Sendable {
    private struct Memory {
        var restarts: UInt32
        var times: [UInt64] = []
    }

    private var memory: [String: Memory] = [:]
    private static let window = 600.0
    private static let manyRestarts = 3

    init() {}

    mutating func took(_ units: [UnitState], at now: HealthInstant) -> [Finding] {
        memory = memory.filter { entry in units.contains { $0.name == entry.key } }
        return units.filter { $0.load == "loaded" }.map { unit in
            let recent = restarts(unit, now)
            return Self.finding(unit, restarts: recent)
        }
    }

    private mutating func restarts(_ unit: UnitState, _ now: HealthInstant) -> Int {
        var entry = memory[unit.name] ?? Memory(restarts: unit.restarts)
        if unit.restarts != entry.restarts {
            let news = unit.restarts > entry.restarts ? unit.restarts - entry.restarts : unit.restarts
            entry.times += Array(repeating: now.uptime, count: Int(min(news, 16)))
            entry.restarts = unit.restarts
        }
        entry.times.removeAll { now.seconds(since: $0) > Self.window }
        if entry.times.count > 64 { entry.times.removeFirst(entry.times.count - 64) }
        memory[unit.name] = entry
        return entry.times.count
    }

    static func finding(_ unit: UnitState, restarts: Int) -> Finding {
        let name = String(unit.name.dropLast(".service".count))
        let isCamera = UnitNames.cameraID(unit.name) != nil
        let code: ErrorCode =
            switch unit.result {
            case "start-limit-hit" where isCamera: .startLimit
            case "watchdog" where isCamera: .watchdogAbort
            case "oom-kill": .processKilledForMemory
            default: .systemManager
            }
        func next(_ command: String) -> String? { code == .systemManager ? command : nil }
        let again = restarts > 0 ? ", restarted \(restarts)× in 10 min" : ""
        // What it left when it could not go on; it explains no end that others made.
        let isOwnEnd = unit.result == "exit-code" || unit.result == "start-limit-hit"
        let end = isOwnEnd ? CodedError(endLine: unit.statusText).map { ": \($0.code) \($0.what)" } ?? "" : ""
        switch unit.phase {
        case .failed(let result):
            return Finding(
                .unit, name, .fail, "systemd has given up on it: \(result)\(again)\(end)", code: code,
                hint: next("Run: systemctl status '\(name)'"))
        case .changing where unit.sub == "auto-restart":
            return Finding(
                .unit, name, .warn, "it ended (\(unit.result)) and is started again\(again)\(end)", code: code,
                hint: next("Run: journalctl -u '\(name)' -n 50"))
        case .stopped where unit.name == UnitNames.control:
            return Finding(
                .unit, name, .fail, "it does not run", code: .unreachable, hint: "Run: systemctl start '\(name)'")
        case .running where restarts >= Self.manyRestarts, .changing where restarts >= Self.manyRestarts:
            return Finding(
                .unit, name, .warn, "\(unit.active)\(again)", code: code,
                hint: next("Run: journalctl -u '\(name)' -n 50"))
        case .running, .changing, .stopped:
            let text = unit.statusText.isEmpty ? "" : ": \(unit.statusText)"
            return Finding(.unit, name, .ok, "\(unit.active)\(again)\(text)")
        }
    }
}
