/// The jobs of one unit: one at a time, and what was asked for meanwhile comes after it, as far as it still matters.
///
/// A camera that takes 90 s to start must not hold up anything else, and a change that comes meanwhile must not be
/// lost.
struct UnitJobQueue {
    enum Job: String, Equatable, Sendable {
        case start
        /// Also starts a unit that does not run.
        case restart
        case stop
        /// The process takes the new settings over while it publishes; a restart when it does not.
        case change
    }

    private enum State: Equatable {
        case idle
        case busy(Job, then: Job?)
    }

    private var state = State.idle

    var isIdle: Bool { state == .idle }

    /// - Returns: the job to give to systemd now; nil when one is under way.
    mutating func requested(_ job: Job) -> Job? {
        guard case .busy(let current, let next) = state else {
            state = .busy(job, then: nil)
            return job
        }
        state = .busy(current, then: Self.after(current, next, desired: job))
        return nil
    }

    /// - Returns: the next job.
    mutating func ended() -> Job? {
        guard case .busy(_, let next) = state else { preconditionFailure("no job was under way") }
        guard let next else {
            state = .idle
            return nil
        }
        state = .busy(next, then: nil)
        return next
    }

    private static func after(_ current: Job, _ next: Job?, desired: Job) -> Job? {
        switch (desired, next ?? current) {
        case (.stop, _): current == .stop ? nil : .stop
        // A restart that waits starts it as well; so does what runs now, when nothing came after it.
        case (.start, .start), (.start, .restart), (.start, .change): next
        // The stop did not happen yet, or just does: the unit may have read older settings.
        case (.start, .stop): current == .stop ? .start : .restart
        case (.restart, _): .restart
        // What has not begun yet reads the newest settings; what runs now may have read older ones.
        case (.change, .start), (.change, .restart), (.change, .change): next ?? .change
        case (.change, .stop): .restart
        }
    }
}
