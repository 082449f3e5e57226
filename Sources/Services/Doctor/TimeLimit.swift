internal import Synchronization

/// Waits for work no longer than is allowed, even for work that cannot be cancelled: it is left behind.
enum TimeLimit {
    private final class Race<Value: Sendable>: Sendable {
        private let waiting: Mutex<CheckedContinuation<Value?, Never>?>

        init(_ continuation: CheckedContinuation<Value?, Never>) {
            waiting = Mutex(continuation)
        }

        /// The first to come decides.
        func end(_ value: Value?) {
            let continuation = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            continuation?.resume(returning: value)
        }
    }

    /// Nil when the time is over first.
    static func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let race = Race(continuation)
            let work = Task { race.end(await body()) }
            Task {
                let timer = Task { try await Task.sleep(for: limit) }
                Task {
                    await work.value
                    timer.cancel()
                }
                guard (try? await timer.value) != nil else { return }
                race.end(nil)
                work.cancel()
            }
        }
    }
}
