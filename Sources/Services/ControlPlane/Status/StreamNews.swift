internal import CameraModel
internal import ControlAPI
internal import ErrorCatalog

/// Which looks at one camera's stream are worth an event.
///
/// Waiting, connecting and silence are one thing: the stream is not live. It counts as that, and as live again, once it has
/// been so for as long as the health daemon waits before it warns; what alternates in between is reported as `OutageReport` has it.
struct StreamNews {
    /// `HealthThresholds.publishSeconds.warn`.
    static let settleTime = Duration.seconds(5)

    private enum Standing {
        case live
        case away
        case stopped
        case failed

        init(_ state: StreamDocument.State) {
            self =
                switch state {
                case .live: .live
                case .starting, .waiting, .unknown: .away
                case .stopped: .stopped
                case .failed: .failed
                }
        }

        var settleTime: Duration { self == .live || self == .away ? StreamNews.settleTime : .zero }
    }

    /// Between two notes of when it was last connected: each is a flushed write.
    private static let notePause = Duration.seconds(3600)

    private var settled: Standing?
    private var isLive = false
    private var notedAt: Duration?
    private var candidate: (standing: Standing, since: Duration)?
    private var report = OutageReport()
    /// Why it is away, as it was last said: an attempt that is under way says nothing.
    private var cause: (reason: String, code: ErrorCode?)?

    /// - Returns: what to report; nil: nothing.
    mutating func saw(
        _ state: StreamDocument.State, _ reason: String?, _ code: ErrorCode?, at now: Duration
    ) -> (text: String, code: ErrorCode?)? {
        let standing = Standing(state)
        var isOther = false
        if standing == .away, let reason {
            isOther = reason != cause?.reason
            cause = (reason, code)
        }
        guard let isNew = settle(standing, at: now) else { return nil }
        let notice: OutageReport.Notice?
        switch standing {
        case .live: notice = report.returned(at: now)
        case .stopped, .failed: notice = isNew ? report.ended(at: now) : report.owed(at: now)
        case .away:
            notice =
                isNew || isOther
                ? report.missed(cause?.reason, code: cause?.code, at: now, isAttempt: false)
                : report.goesOn(at: now)
        }
        let reported: (reason: String, code: ErrorCode?)? =
            standing == .away ? cause : reason.map { (reason: $0, code: code) }
        if standing != .away { cause = nil }
        guard let notice else { return nil }
        let name = standing == .away && reported != nil ? StreamDocument.State.waiting : state
        return ("\(name.rawValue)\(reported.map { ": \($0.reason)" } ?? "")\(notice.note)", reported?.code ?? code)
    }

    /// Whether to note that it is live now: it was not at the look before, and the last note is old.
    mutating func hasConnected(_ state: StreamDocument.State, at now: Duration) -> Bool {
        defer { isLive = state == .live }
        guard state == .live, !isLive, notedAt.map({ now - $0 >= Self.notePause }) ?? true else { return false }
        notedAt = now
        return true
    }

    /// Whether the stream has just settled in that; nil while it has not, and for what was there in the beginning.
    private mutating func settle(_ standing: Standing, at now: Duration) -> Bool? {
        guard let settled else {
            self.settled = standing
            // Summaries come, though nobody saw how it began.
            if standing == .away { _ = report.missed(nil, at: now, isAttempt: false) }
            return nil
        }
        guard standing != settled else {
            candidate = nil
            return false
        }
        if candidate?.standing != standing { candidate = (standing, now) }
        guard let candidate, now - candidate.since >= standing.settleTime else { return nil }
        self.candidate = nil
        self.settled = standing
        return true
    }
}
