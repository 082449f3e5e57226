import Foundation
import Synchronization

/// A value that others change, and that a test waits for.
final class Watched<Value: Sendable>: Sendable {
    struct TimedOut: Error, CustomStringConvertible {
        var what: String
        var last: String
        var description: String { "waited in vain for \(what); the last was \(last)" }
    }

    private struct Waiter {
        var id: UInt64
        var isDone: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Value, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [Waiter] = []
        var next: UInt64 = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    func change(_ body: (inout sending Value) -> Void) {
        let (value, done) = state.withLock { state in
            body(&state.value)
            let value = state.value
            let done = state.waiters.filter { $0.isDone(value) }
            if !done.isEmpty { state.waiters.removeAll { waiter in done.contains { $0.id == waiter.id } } }
            return (value, done)
        }
        for waiter in done { waiter.continuation.resume(returning: value) }
    }

    /// Bounded only against a hang of the test.
    @discardableResult
    func wait(
        _ what: String, seconds: Double = 90, until isDone: @escaping @Sendable (Value) -> Bool
    ) async throws -> Value {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let guardian = Task {
            try await Task.sleep(for: .seconds(seconds))
            let (waiter, last) = state.withLock { state in
                let waiter = state.waiters.first { $0.id == id }
                state.waiters.removeAll { $0.id == id }
                return (waiter, "\(state.value)")
            }
            waiter?.continuation.resume(throwing: TimedOut(what: what, last: String(last.prefix(2000))))
        }
        defer { guardian.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            let now: Value? = state.withLock { state in
                if isDone(state.value) { return state.value }
                state.waiters.append(Waiter(id: id, isDone: isDone, continuation: continuation))
                return nil
            }
            if let now { continuation.resume(returning: now) }
        }
    }
}
