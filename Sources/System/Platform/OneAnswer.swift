internal import Synchronization

/// What one caller waits for and another thread gives. The first value counts, and the caller gets exactly one.
public final class OneAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Mutex(State.open)

    public init() {}

    /// Another value is not needed.
    public var isGiven: Bool {
        state.withLock { if case .given = $0 { true } else { false } }
    }

    /// The value, as soon as it is there. One caller waits, once.
    ///
    /// - Parameters:
    ///   - begin: sets going what gives it, while the caller already waits.
    ///   - cancel: the caller's task was cancelled: must give a value.
    public func value(begin: () -> Void, onCancel cancel: @Sendable () -> Void) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let given = state.withLock { state -> Value? in
                    if case .given(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let given { continuation.resume(returning: given) }
                begin()
            }
        } onCancel: {
            cancel()
        }
    }

    /// A value after the first is ignored.
    ///
    /// - Returns: whether this is the one that the caller gets.
    @discardableResult
    public func give(_ value: Value) -> Bool {
        let before = state.withLock { state in
            defer { if case .given = state {} else { state = .given(value) } }
            return state
        }
        switch before {
        case .open: return true
        case .awaited(let continuation):
            continuation.resume(returning: value)
            return true
        case .given: return false
        }
    }
}
