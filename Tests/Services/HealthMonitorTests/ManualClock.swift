import Synchronization

@testable import HealthMonitor

/// A clock that moves only when the test says so.
final class ManualClock: HealthClock {
    private struct Sleeper {
        var duration: Duration
        var until: UInt64
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var duration: Duration
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = HealthInstant.at(100)
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Watcher] = []
        var next = 0
    }

    private let state = Mutex(State())

    func now() -> HealthInstant { state.withLock { $0.now } }

    func sleep(for duration: Duration) async throws {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, watchers) = state.withLock { state -> (Bool, [Watcher]) in
                    if Task.isCancelled { return (true, []) }
                    state.sleepers[number] = Sleeper(
                        duration: duration, until: state.now.uptime + UInt64(duration / .nanoseconds(1)),
                        continuation: continuation)
                    let watchers = state.watchers.filter { $0.duration == duration }
                    state.watchers.removeAll { $0.duration == duration }
                    return (false, watchers)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Returns as soon as somebody sleeps for exactly this long.
    func somebodySleeps(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isTrue = state.withLock { state in
                if state.sleepers.values.contains(where: { $0.duration == duration }) { return true }
                state.watchers.append(Watcher(duration: duration, continuation: continuation))
                return false
            }
            if isTrue { continuation.resume() }
        }
    }

    func advance(_ duration: Duration) {
        let nanoseconds = UInt64(duration / .nanoseconds(1))
        let due = state.withLock { state in
            state.now.uptime += nanoseconds
            state.now.realtime += Int64(nanoseconds)
            let due = state.sleepers.filter { $0.value.until <= state.now.uptime }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    /// Somebody sets the wall clock.
    func step(seconds: Int64) { state.withLock { $0.now.realtime += seconds * 1_000_000_000 } }
}

/// Closed until it is opened, then open for good.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func opened() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
