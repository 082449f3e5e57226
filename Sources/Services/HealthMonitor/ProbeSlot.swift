internal import Platform
internal import Synchronization

/// Where one reading is made at a time, beside the monitor's round: a reading that hangs costs its own lane, one thread
/// at most, and is reported as what it is.
final class ProbeSlot<Reading: Sendable>: Sendable {
    private struct State {
        var startedAt: UInt64?
        var reading: Reading?
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    /// Since when it is busy, in nanoseconds since boot; nil while idle.
    var busySince: UInt64? { state.withLock { $0.startedAt } }

    /// A reading that blocks gets a thread of its own. False while the last one has not ended.
    func start(at now: UInt64, blocking work: @escaping @Sendable () -> Reading) -> Bool {
        guard begin(now) else { return false }
        let started = OwnThread.start { self.end(work()) }
        if !started { end(nil) }
        return started
    }

    /// A reading that waits without a thread. False while the last one has not ended.
    func start(at now: UInt64, waiting work: @escaping @Sendable () async -> Reading) -> Bool {
        guard begin(now) else { return false }
        // Not a child of the round: it may outlive it, which is the point of a lane.
        Task { self.end(await work()) }
        return true
    }

    /// What was read since it was last taken.
    func take() -> Reading? {
        state.withLock { state in
            defer { state.reading = nil }
            return state.reading
        }
    }

    /// Returns when the lane is idle, or the task is cancelled.
    func ended() async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.startedAt == nil || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private func begin(_ now: UInt64) -> Bool {
        state.withLock { state in
            guard state.startedAt == nil else { return false }
            state.startedAt = now
            return true
        }
    }

    private func end(_ reading: Reading?) {
        let waiting = state.withLock { state in
            state.startedAt = nil
            state.reading = reading
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }
}

extension ProbeSlot {
    /// Runs `work` on a thread and returns what it read, or nil when it did not end in time; it may end later, and its
    /// value is forgotten then.
    func run(
        limit: Duration, clock: any HealthClock, _ work: @escaping @Sendable () -> Reading
    ) async -> Reading? {
        _ = take()
        guard start(at: clock.now().uptime, blocking: work) else { return nil }
        await Waiting.until(limit: limit, clock: clock) { await self.ended() }
        return take()
    }
}

enum Waiting {
    /// Returns when `body` has ended or the time has passed. `body` must end when it is cancelled.
    static func until(limit: Duration, clock: any HealthClock, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { await body() }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
