/// The conversation with PID 1 over one connection to the bus.
///
/// Its duties: a job is over when `JobRemoved` names it, and that signal may come before the reply that says which job
/// it is; signals count only from the sender that made the job, because anybody on the bus can send one to us; a list
/// is complete when each of its units was asked.
///
/// The odd case: PID 1 re-executes itself, for an update of systemd. Its jobs live on, but it comes back to the bus
/// under another name. So each job subscribes again (the error "already subscribed" is as good as the other reply), and
/// when a job's end is reported by another sender than its maker, the bus is asked whether that is PID 1 now.
struct UnitDialogue {
    enum Verb: Equatable {
        case start
        /// No later job takes its place.
        case startIrreversibly
        case stop
        case restart

        /// Of the manager's interface.
        var member: String {
            switch self {
            case .start, .startIrreversibly: "StartUnit"
            case .stop: "StopUnit"
            case .restart: "RestartUnit"
            }
        }

        /// What becomes of jobs that are in its way.
        var mode: String { self == .startIrreversibly ? "replace-irreversibly" : "replace" }

        /// systemd counts starts that somebody asks for like those after a failure: its count is to begin again with
        /// each.
        var forgetsStarts: Bool { self != .stop }
    }

    enum Call: Equatable {
        case job(Verb, String)
        case resetFailed(String)
        case state(String)
        case units(String)
        /// Whether the clock follows a time server, as systemd-timedated says.
        case isClockSynchronised
    }

    enum Answer: Equatable {
        case done
        case flag(Bool)
        case state(UnitState)
        case states([UnitState])
    }

    enum Request: Equatable {
        /// The reply to `state` and `units` are paths, whose properties are asked next.
        case call(Call)
        case subscribe
        case properties(path: String)
        /// The connection that PID 1 has now.
        case owner
    }

    /// Which call a request belongs to; `item` counts the units of a list.
    struct Tag: Hashable {
        /// 0 belongs to none.
        var call: UInt64
        var item = 0
    }

    enum Reply: Equatable {
        case empty
        case path(String, sender: String)
        case properties(UnitState)
        case list([String])
        case owner(String)
        case flag(Bool)
        case failure(BusFailure)
    }

    enum Action: Equatable {
        case send(Request, Tag)
        case finish(UInt64, Result<Answer, SystemdError>)
    }

    struct RemovedJob: Equatable {
        var path: String
        var sender: String
        var result: String
    }

    private enum Stage {
        /// Before the job: whatever the outcome, the job is asked for then.
        case forgettingStarts
        case awaitingJob
        /// `unconfirmed`: ends that another sender reported; the bus is being asked who PID 1 is.
        case running(path: String, sender: String, unconfirmed: [RemovedJob] = [])
        case awaitingReply
        /// `missing`: replies that have not come.
        case collecting([UnitState], missing: Int)
    }

    /// The most units of a list.
    static let listLimit = 256
    /// Signals that are kept for a reply which has not come.
    static let earlyLimit = 512
    static let unconfirmedLimit = 16

    private var calls: [UInt64: (call: Call, stage: Stage)] = [:]
    private var early: [RemovedJob] = []

    init() {}

    var isIdle: Bool { calls.isEmpty }

    /// What is asked for, as text for an error.
    static func purpose(_ call: Call) -> String {
        switch call {
        case .job(.start, let unit), .job(.startIrreversibly, let unit): "start of \(unit)"
        case .job(.stop, let unit): "stop of \(unit)"
        case .job(.restart, let unit): "restart of \(unit)"
        case .resetFailed(let unit): "reset-failed of \(unit)"
        case .state(let unit): "state of \(unit)"
        case .units(let pattern): "list of units \(pattern)"
        case .isClockSynchronised: "state of the clock"
        }
    }

    mutating func begin(_ id: UInt64, _ call: Call) -> [Action] {
        guard case .job(let verb, let unit) = call else {
            calls[id] = (call, .awaitingReply)
            return [.send(.call(call), Tag(call: id))]
        }
        calls[id] = (call, verb.forgetsStarts ? .forgettingStarts : .awaitingJob)
        let first = verb.forgetsStarts ? Call.resetFailed(unit) : call
        return [.send(.subscribe, Tag(call: 0)), .send(.call(first), Tag(call: id))]
    }

    mutating func replied(_ tag: Tag, _ reply: Reply) -> [Action] {
        // The call may be over: its deadline passed, or no one waits any more.
        guard let (call, stage) = calls[tag.call] else { return [] }
        if case .running(let path, let sender, let unconfirmed) = stage {
            calls[tag.call]?.stage = .running(path: path, sender: sender)
            guard case .owner(let owner) = reply, let end = unconfirmed.first(where: { $0.sender == owner }) else {
                return []
            }
            return finishJob(tag.call, call, end.result)
        }
        if case .forgettingStarts = stage {
            // A unit that PID 1 has not loaded has no count, and where this is refused, so is the job.
            calls[tag.call]?.stage = .awaitingJob
            return [.send(.call(call), tag)]
        }
        if case .failure(let failure) = reply { return failed(tag, call, stage, failure) }
        switch (stage, reply) {
        case (.awaitingJob, .path(let path, let sender)):
            calls[tag.call]?.stage = .running(path: path, sender: sender)
            let removed = early.first { $0.path == path && $0.sender == sender }
            forgetEarly()
            return removed.map { finishJob(tag.call, call, $0.result) } ?? []
        case (.awaitingReply, .path(let path, _)):
            return [.send(.properties(path: path), tag)]
        case (.awaitingReply, .properties(let state)):
            return finish(tag.call, .success(.state(state)))
        case (.awaitingReply, .list(let paths)):
            let paths = paths.prefix(Self.listLimit)
            if paths.isEmpty { return finish(tag.call, .success(.states([]))) }
            calls[tag.call]?.stage = .collecting([], missing: paths.count)
            return paths.enumerated().map { .send(.properties(path: $1), Tag(call: tag.call, item: $0)) }
        case (.awaitingReply, .flag(let isSet)):
            return finish(tag.call, .success(.flag(isSet)))
        case (.awaitingReply, .empty):
            return finish(tag.call, .success(.done))
        case (.collecting(let states, let missing), .properties(let state)):
            return collected(tag.call, states + [state], missing - 1)
        default:
            return finish(tag.call, .failure(.invalid("\(Self.purpose(call)): PID 1's answer is of the wrong form")))
        }
    }

    mutating func jobRemoved(_ job: RemovedJob) -> [Action] {
        var actions: [Action] = []
        var someoneWaits = false
        for (id, (call, stage)) in calls {
            switch stage {
            case .running(let path, let sender, let unconfirmed) where path == job.path:
                if sender == job.sender {
                    actions += finishJob(id, call, job.result)
                } else if unconfirmed.count < Self.unconfirmedLimit {
                    calls[id]?.stage = .running(path: path, sender: sender, unconfirmed: unconfirmed + [job])
                    if unconfirmed.isEmpty { actions.append(.send(.owner, Tag(call: id))) }
                }
            case .awaitingJob: someoneWaits = true
            default: break
            }
        }
        if someoneWaits {
            if early.count == Self.earlyLimit { early.removeFirst() }
            early.append(job)
        }
        return actions
    }

    /// The deadline passed.
    mutating func expired(_ id: UInt64) -> [Action] {
        guard let (call, stage) = calls[id] else { return [] }
        let purpose = Self.purpose(call)
        switch stage {
        case .running(let path, _, _):
            let job = path.split(separator: "/").last.map(String.init) ?? path
            return finish(id, .failure(.timedOut("\(purpose); job \(job) goes on")))
        case .forgettingStarts, .awaitingJob, .awaitingReply, .collecting:
            return finish(id, .failure(.timedOut(purpose)))
        }
    }

    /// No one waits for the answer any more.
    mutating func abandoned(_ id: UInt64) {
        calls[id] = nil
        forgetEarly()
    }

    /// The connection is gone, and with it all that was asked over it.
    mutating func lost(_ reason: String) -> [Action] {
        defer { self = UnitDialogue() }
        return calls.keys.sorted().map { id in
            .finish(id, .failure(.unavailable("\(Self.purpose(calls[id]!.call)): \(reason)")))
        }
    }

    private mutating func failed(_ tag: Tag, _ call: Call, _ stage: Stage, _ failure: BusFailure) -> [Action] {
        let unit: String?
        switch call {
        case .job(_, let name), .resetFailed(let name), .state(let name): unit = name
        case .units, .isClockSynchronised: unit = nil
        }
        let error = failure.error(Self.purpose(call), unit: unit)
        if case .resetFailed = call, case .noSuchUnit = error { return finish(tag.call, .success(.done)) }
        // A unit that went away between the list and the question is no longer part of the list.
        if case .collecting(let states, let missing) = stage, failure.isAboutMissingUnit {
            return collected(tag.call, states, missing - 1)
        }
        return finish(tag.call, .failure(error))
    }

    private mutating func collected(_ id: UInt64, _ states: [UnitState], _ missing: Int) -> [Action] {
        calls[id]?.stage = .collecting(states, missing: missing)
        if missing > 0 { return [] }
        return finish(id, .success(.states(states.sorted { $0.name < $1.name })))
    }

    private mutating func finishJob(_ id: UInt64, _ call: Call, _ result: String) -> [Action] {
        guard case .job(_, let unit) = call else { return [] }
        // "skipped": the job did not apply, for example a stop of what does not run.
        let succeeded = result == "done" || result == "skipped"
        return finish(
            id, succeeded ? .success(.done) : .failure(.jobFailed(unit: unit, result: result.oneLine(limit: 64))))
    }

    private mutating func finish(_ id: UInt64, _ outcome: Result<Answer, SystemdError>) -> [Action] {
        calls[id] = nil
        forgetEarly()
        return [.finish(id, outcome)]
    }

    private mutating func forgetEarly() {
        let someoneWaits = calls.values.contains { if case .awaitingJob = $0.stage { true } else { false } }
        if !someoneWaits { early = [] }
    }
}

extension BusFailure {
    fileprivate var isAboutMissingUnit: Bool {
        [
            "org.freedesktop.systemd1.NoSuchUnit", "org.freedesktop.DBus.Error.UnknownObject",
            "org.freedesktop.DBus.Error.UnknownMethod",
        ].contains(name)
    }
}
