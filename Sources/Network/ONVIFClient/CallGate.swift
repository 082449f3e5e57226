internal import Platform
internal import Synchronization

/// Lets so many through at a time, the others in the order in which they came: cameras answer few at once.
final class CallGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [OneAnswer<Bool>] = []
    }

    private let state: Mutex<State>

    init(_ limit: Int) {
        state = Mutex(State(free: limit))
    }

    /// False when the task was cancelled: then there is nothing to leave.
    func enter() async -> Bool {
        let turn = OneAnswer<Bool>()
        return await turn.value {
            let isFree = state.withLock { state in
                guard state.free > 0 else {
                    state.waiting.removeAll { $0.isGiven }
                    state.waiting.append(turn)
                    return false
                }
                state.free -= 1
                return true
            }
            if isFree, !turn.give(true) { leave() }
        } onCancel: {
            turn.give(false)
        }
    }

    func leave() {
        while true {
            let next = state.withLock { state -> OneAnswer<Bool>? in
                guard !state.waiting.isEmpty else {
                    state.free += 1
                    return nil
                }
                return state.waiting.removeFirst()
            }
            // Who was cancelled is passed over.
            guard let next, !next.give(true) else { return }
        }
    }
}
