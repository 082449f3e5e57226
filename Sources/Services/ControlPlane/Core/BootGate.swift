internal import Synchronization

/// Opens once, at the end of boot. A request that came before would be answered on half a state: what waits to be
/// confirmed is not read yet, and a change would be made of nothing.
final class BootGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// How many wait.
    var waiting: Int { state.withLock { $0.waiting.count } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for one in waiting { one.resume() }
    }

    /// Returns when it is open. Throws when the task is cancelled before: the API's server bounds the time of a request.
    func passed() async throws(CancellationError) {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                let isDone = state.withLock { state in
                    // Under the lock: a cancellation either sees this one waiting, or is seen here.
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[number] = done
                    return false
                }
                if isDone { done.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
        guard state.withLock({ $0.isOpen }) else { throw CancellationError() }
    }
}
