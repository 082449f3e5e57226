internal import ErrorCatalog
internal import Systemd

/// What to do about units that are not as they should be, and what to report of those that changed. Assesses what
/// systemd says every two seconds; knows no clock and no bus.
///
/// A failed unit is left alone: systemd's start limit and the health daemon's ladder are for it. A unit that is idle
/// must be so twice in a row before it is started, because a restart by somebody else passes through that state.
struct Supervision {
    struct Desired: Equatable {
        var runs: Bool
        /// It runs with older settings, as far as is known.
        var needsRestart: Bool
    }

    enum Action: Equatable {
        case job(UnitJobQueue.Job, unit: String)
        /// Systemd forgets a failed unit of a camera that there is not any more.
        case forget(unit: String)
        case report(Notice)
    }

    struct Notice: Equatable {
        var unit: String
        var code: ErrorCode?
        var text: String
    }

    private struct Attempts {
        var count = 0
        var next: Duration = .zero
        var isIdleBefore = false
    }

    private static let maxPause = Duration.seconds(60)

    private var known: [String: UnitState]?
    private var attempts: [String: Attempts] = [:]

    /// - Parameters:
    ///   - desired: by unit name; units that are not in it must not run.
    ///   - busy: units that have a job; they are left alone.
    ///   - now: any clock that does not go back.
    mutating func observed(
        _ units: [UnitState], desired: [String: Desired], busy: Set<String>, now: Duration
    ) -> [Action] {
        let states = Dictionary(units.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var actions: [Action] = []
        if let known { actions += Self.notices(from: known, to: states, desired: desired) }
        known = states
        for unit in Set(desired.keys).union(states.keys).subtracting(busy).sorted() {
            if let action = action(unit, states[unit], desired[unit], now) { actions.append(action) }
        }
        attempts = attempts.filter { desired[$0.key] != nil }
        return actions
    }

    private mutating func action(_ unit: String, _ state: UnitState?, _ desired: Desired?, _ now: Duration) -> Action? {
        guard let desired, desired.runs else {
            attempts[unit] = nil
            if state?.isUp == true { return .job(.stop, unit: unit) }
            return desired == nil && state?.active == "failed" ? .forget(unit: unit) : nil
        }
        // systemd does not list a unit that it has not loaded.
        let isIdle = state?.isIdle ?? true
        let isOlder = desired.needsRestart && state?.active == "active"
        guard isIdle || isOlder else {
            attempts[unit]?.isIdleBefore = false
            if state?.active == "active", let attempt = attempts[unit], now >= attempt.next + Self.maxPause {
                attempts[unit] = nil
            }
            return nil
        }
        var attempt = attempts[unit] ?? Attempts()
        defer { attempts[unit] = attempt }
        guard attempt.isIdleBefore else {
            attempt.isIdleBefore = true
            return nil
        }
        guard now >= attempt.next else { return nil }
        attempt.next = now + min(.seconds(2 << min(attempt.count, 5)), Self.maxPause)
        attempt.count += 1
        return .job(isOlder ? .restart : .start, unit: unit)
    }

    private static func notices(
        from known: [String: UnitState], to states: [String: UnitState], desired: [String: Desired]
    ) -> [Action] {
        states.values.sorted { $0.name < $1.name }.compactMap { state in
            let before = known[state.name]
            let active = before?.active ?? "inactive"
            func notice(_ text: String, _ code: ErrorCode? = nil) -> Action {
                .report(Notice(unit: state.name, code: code, text: text))
            }
            if state.active == "failed", active != "failed" { return notice(state.failure.text, state.failure.code) }
            if state.restarts > before?.restarts ?? 0, before != nil {
                let why = state.result == "success" ? "" : ": \(state.failure.text)"
                return notice(
                    "systemd started it again\(why), \(state.restarts) \(state.restarts == 1 ? "time" : "times") so far",
                    state.result == "success" ? nil : state.failure.code)
            }
            if state.active == "active", active != "active" { return notice("runs") }
            if state.active == "inactive", active != "inactive" {
                return desired[state.name]?.runs == true ? notice("stopped", .cameraStopped) : notice("stopped")
            }
            if state.active == "active", let before, !before.invocationID.isEmpty,
                before.invocationID != state.invocationID
            {
                return notice("was restarted")
            }
            return nil
        }
    }
}
