internal import CameraModel
internal import ErrorCatalog
internal import Synchronization
internal import Systemd

/// Gives jobs to systemd, for each unit one after the other, for all units side by side.
final class UnitJobs: Sendable {
    /// How one job ended.
    struct Outcome: Sendable {
        var unit: String
        var job: UnitJobQueue.Job
        var failure: SystemdError?
        /// What `prepare` said of the unit before a start; of a change, its own.
        var mark: [UInt8]?
        /// Why a change became a restart.
        var refusal: String?
    }

    /// What a process that runs has yet to be sent, all that was asked for since the last time.
    struct Change: Equatable, Sendable {
        var video: VideoChange
        /// The newest one that this settles.
        var mark: [UInt8]
    }

    /// A process that does not run reads the new settings when it is started.
    private struct NotUp: Error {}

    private struct State {
        var lines: [String: UnitJobQueue] = [:]
        var owed: [String: Change] = [:]
        var waiting: [Int: (unit: String?, done: CheckedContinuation<Void, Never>)] = [:]
        var nextWaiting = 0
        var failures: [String: SystemdError] = [:]
        var ended = 0
    }

    private let state = Mutex(State())
    private let units: any UnitControl
    /// Before a start: credentials have to be where the unit loads them from. Returns the mark that wants the restart.
    private let prepare: @Sendable (_ unit: String, _ isDown: Bool) throws -> [UInt8]?
    private let changeProcess: @Sendable (_ unit: String, VideoChange, _ user: UInt32) async throws -> Void
    private let report: @Sendable (Outcome) -> Void
    private let willDo: @Sendable (_ step: String) throws -> Void

    /// - Parameter change: sends it to the process of a camera's unit, which runs as `user`.
    init(
        units: any UnitControl, willDo: @escaping @Sendable (_ step: String) throws -> Void,
        prepare: @escaping @Sendable (_ unit: String, _ isDown: Bool) throws -> [UInt8]?,
        change: @escaping @Sendable (_ unit: String, VideoChange, _ user: UInt32) async throws -> Void,
        ended: @escaping @Sendable (Outcome) -> Void
    ) {
        self.units = units
        self.willDo = willDo
        self.prepare = prepare
        changeProcess = change
        report = ended
    }

    /// As `request(.change, unit)`, with what changes. Newer values take the place of those that were not sent yet.
    func request(_ change: VideoChange, mark: [UInt8], _ unit: String) {
        state.withLock { state in
            let video = state.owed[unit]?.video.merging(change) ?? change
            state.owed[unit] = Change(video: video, mark: mark)
        }
        request(.change, unit)
    }

    /// Units whose processes lack nothing but what the crew will send them.
    var changing: Set<String> { state.withLock { Set($0.owed.keys) } }

    /// Returns at once; the job goes its way.
    ///
    /// - Parameter other: the unit whose jobs have to be done before; nil: none.
    func request(_ job: UnitJobQueue.Job, _ unit: String, after other: String? = nil) {
        let first = state.withLock { $0.lines[unit, default: UnitJobQueue()].requested(job) }
        guard let first else { return }
        Task {
            if let other { await wait(for: other) }
            await work(through: first, unit)
        }
    }

    /// Jobs that were done so far.
    var ended: Int { state.withLock { $0.ended } }

    /// Units whose jobs are not done yet.
    var busy: Set<String> { state.withLock { state in Set(state.lines.filter { !$0.value.isIdle }.keys) } }

    /// Waits until the unit has no job any more. Throws why its last one failed.
    func settled(_ unit: String) async throws(SystemdError) {
        await wait(for: unit)
        if let failure = state.withLock({ $0.failures[unit] }) { throw failure }
    }

    /// Waits until no unit has a job.
    func settled() async { await wait(for: nil) }

    /// Returns early when the task is cancelled.
    private func wait(for unit: String?) async {
        let number = state.withLock { state in
            state.nextWaiting += 1
            return state.nextWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                let isDone = state.withLock { state in
                    // Under the lock: a cancellation either sees this one waiting, or is seen here.
                    if Self.isSettled(unit, state) || Task.isCancelled { return true }
                    state.waiting[number] = (unit, done)
                    return false
                }
                if isDone { done.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.done.resume()
        }
    }

    private static func isSettled(_ unit: String?, _ state: State) -> Bool {
        if let unit { state.lines[unit]?.isIdle ?? true } else { state.lines.values.allSatisfy(\.isIdle) }
    }

    private func work(through first: UnitJobQueue.Job, _ unit: String) async {
        var job = first
        while true {
            var outcome = Outcome(unit: unit, job: job)
            let owed = state.withLock { $0.owed[unit] }
            do {
                try await perform(owed, &outcome)
            } catch {
                outcome.failure = error as? SystemdError ?? .invalid(CodedError(of: error).what)
            }
            // Reported before the line is free, so that whoever waited for it sees the result.
            report(outcome)
            let (next, released) = state.withLock { state in
                // After a failure the mark is still there, and asks for a restart.
                if state.owed[unit] == owed { state.owed[unit] = nil }
                state.failures[unit] = outcome.failure
                state.ended += 1
                let next = state.lines[unit]?.ended()
                if next == nil { state.lines[unit] = nil }
                let waiting = state.waiting
                state.waiting = waiting.filter { !Self.isSettled($0.value.unit, state) }
                return (next, waiting.values.filter { Self.isSettled($0.unit, state) })
            }
            for waiting in released { waiting.done.resume() }
            guard let next else { return }
            job = next
        }
    }

    private func perform(_ owed: Change?, _ outcome: inout Outcome) async throws {
        let unit = outcome.unit
        let state = outcome.job == .stop ? nil : try? await units.state(of: unit)
        if outcome.job == .change {
            do {
                try await change(owed, unit, state)
                outcome.mark = owed?.mark
                return
            } catch {
                if !(error is NotUp) { outcome.refusal = "\(error)" }
                outcome.job = .restart
            }
        }
        let isFailed = state?.active == "failed"
        if outcome.job != .stop { outcome.mark = try prepare(unit, isFailed || state?.isIdle == true) }
        try await perform(outcome.job, unit)
    }

    private func change(_ owed: Change?, _ unit: String, _ state: UnitState?) async throws {
        // A restart came before it, and the process has read it.
        guard let owed else { return }
        guard let user = state?.userIdentifier, state?.isUp == true else { throw NotUp() }
        try willDo("change \(unit)")
        try await changeProcess(unit, owed.video, user)
    }

    private func perform(_ job: UnitJobQueue.Job, _ unit: String) async throws {
        switch job {
        case .start, .restart, .change:
            try willDo("\(job.rawValue) \(unit)")
            if job == .start { try await units.start(unit) } else { try await units.restart(unit) }
        case .stop:
            try willDo("stop \(unit)")
            do {
                try await units.stop(unit)
            } catch {
                // Where there is none there is nothing to stop.
                guard case SystemdError.noSuchUnit = error else { throw error }
            }
        }
    }
}

extension VideoChange {
    /// Both, where the newer one decides.
    func merging(_ newer: VideoChange) -> VideoChange {
        VideoChange(
            bitrate: newer.bitrate ?? bitrate, frameRate: newer.frameRate ?? frameRate,
            gopSeconds: newer.gopSeconds ?? gopSeconds, width: newer.width ?? width, height: newer.height ?? height)
    }
}
