internal import Synchronization

/// One call that somebody waits for. Answered once; who comes second is ignored.
final class BusOperation: Sendable {
    typealias Outcome = Result<UnitDialogue.Answer, SystemdError>

    private enum State {
        case fresh
        case waiting(CheckedContinuation<Outcome, Never>)
        case over(Outcome)
    }

    let id: UInt64
    let call: UnitDialogue.Call
    let deadline: ContinuousClock.Instant
    private let state = Mutex(State.fresh)

    init(id: UInt64, call: UnitDialogue.Call, deadline: ContinuousClock.Instant) {
        self.id = id
        self.call = call
        self.deadline = deadline
    }

    var isOver: Bool {
        state.withLock { if case .over = $0 { true } else { false } }
    }

    func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state -> Outcome? in
            if case .over(let outcome) = state { return outcome }
            state = .waiting(continuation)
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            defer { if case .over = state {} else { state = .over(outcome) } }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(returning: outcome)
    }
}
