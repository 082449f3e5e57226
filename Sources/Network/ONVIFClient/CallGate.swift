internal import Synchronization

/// Lets so many through at a time, the others in the order in which they came: cameras answer few at once.
final class CallGate: Sendable {
    private struct State {
        var free: Int
        var nextTicket: UInt64 = 0
        var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        /// Cancelled before they had begun to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state: Mutex<State>

    init(_ limit: Int) {
        state = Mutex(State(free: limit))
    }

    /// False when the task was cancelled: then there is nothing to leave.
    func enter() async -> Bool {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Bool? = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                    state.cancelled.insert(ticket)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiting?.resume(returning: false)
        }
        // Cancelled after it was let in: nobody will ask for that ticket again.
        state.withLock { _ = $0.cancelled.remove(ticket) }
        return isIn
    }

    func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
