internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import NIOCore
internal import Synchronization

/// What is known of a camera besides the counters of the frame path: its state, and the events that people and
/// supervisors hear.
final class CameraMonitor: Sendable {
    struct Facts: Sendable {
        var state = CameraStatistics.State.starting
        var reason: String?
        var code: ErrorCode?
        var connections: UInt64 = 0
        /// CLOCK_MONOTONIC in nanoseconds when the relay last accepted the stream.
        var publishedAt: UInt64 = 0
        var reconnects: UInt64 = 0
        var attempts: UInt64 = 0
        var headersRegistered: UInt64 = 0
        var headersUnregistered: UInt64 = 0
        var registrationFailed = false
    }

    let events: AsyncStream<CameraEvent>
    private let continuation: AsyncStream<CameraEvent>.Continuation
    private let facts = Mutex(Facts())
    private let logger: Logger
    private struct Reporting {
        var report = OutageReport()
        /// Of the outage, as it was last said: an attempt that is under way says none.
        var cause: (state: CameraStatistics.State, reason: String?, code: ErrorCode?)?
        /// Looks whether a return lasts.
        var timer: Task<Void, Never>?
    }

    private let reporting = Mutex(Reporting())
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: any clock that does not go back.
    ///   - sleep: by that clock.
    init(
        logger: Logger,
        now: @escaping @Sendable () -> Duration = {
            .nanoseconds(Int64(clamping: NIODeadline.now().uptimeNanoseconds))
        },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.logger = logger
        self.now = now
        self.sleep = sleep
        // Events are for those who watch; who doesn't, reads the statistics.
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    var current: Facts { facts.withLock { $0 } }

    func enter(_ state: CameraStatistics.State, reason: String? = nil, code: ErrorCode? = nil) {
        let changed = facts.withLock { facts in
            let changed = facts.state != state || facts.reason != reason
            // The same answer again is a step as well: the wait gets on.
            facts.attempts += 1
            facts.state = state
            facts.reason = reason
            facts.code = code
            return changed
        }
        if let notice = notice(state, reason, code, changed: changed) {
            log(notice.state, notice.reason, notice.code, notice.note)
        }
        if changed { continuation.yield(.stateChanged(state, reason: reason)) }
    }

    /// Nil: not reported. A relay that is away is tried every few seconds for as long as it takes, and a log of bounded size
    /// must not lose for that how it began.
    private func notice(
        _ state: CameraStatistics.State, _ reason: String?, _ code: ErrorCode?, changed: Bool
    ) -> (state: CameraStatistics.State, reason: String?, code: ErrorCode?, note: String)? {
        let now = now()
        return reporting.withLock { reporting in
            switch state {
            case .waitingToReconnect, .waitingForKey:
                reporting.cause = (state, reason, code)
                return reporting.report.missed(reason, code: code, at: now).map { (state, reason, code, $0.note) }
            case .starting where reporting.report.isOpen, .connecting where reporting.report.isOpen:
                // A sum is about the outage, whatever goes on just now.
                let cause = reporting.cause ?? (state, reason, code)
                return reporting.report.goesOn(at: now).map { (cause.state, cause.reason, cause.code, $0.note) }
            case .publishing where reporting.report.isOpen:
                let notice = reporting.report.returned(at: now)
                if let due = reporting.report.returnDue { lookAgain(at: due, &reporting) }
                return notice.map { (state, reason, code, $0.note) }
            case .starting, .connecting, .publishing, .stopping, .stopped, .failed:
                return changed ? (state, reason, code, "") : nil
            }
        }
    }

    private func lookAgain(at due: Duration, _ reporting: inout Reporting) {
        reporting.timer?.cancel()
        let wait = due - now()
        reporting.timer = Task { [weak self, sleep] in
            guard (try? await sleep(max(wait, .zero))) != nil else { return }
            self?.look()
        }
    }

    /// Reports a return that has lasted, if that is due.
    func look() {
        guard current.state == .publishing,
            let notice = reporting.withLock({ $0.report.returned(at: now()) })
        else { return }
        log(.publishing, nil, nil, notice.note)
    }

    private func log(_ state: CameraStatistics.State, _ reason: String?, _ code: ErrorCode?, _ note: String) {
        var logger = logger
        logger[metadataKey: "event"] = "\(state.rawValue)"
        if let code { logger[metadataKey: "code"] = "\(code)" }
        let text = (reason.map { "\(state.rawValue): \($0)" } ?? state.rawValue) + note
        switch state {
        case .failed: logger.error("\(text)")
        case .waitingForKey, .waitingToReconnect: logger.warning("\(text)")
        case .publishing, .stopped: logger.notice("\(text)")
        case .starting, .connecting, .stopping: logger.info("\(text)")
        }
    }

    func published(at now: UInt64) {
        facts.withLock { facts in
            facts.connections += 1
            facts.publishedAt = now
        }
        enter(.publishing)
    }

    func reconnecting() {
        facts.withLock { facts in
            facts.reconnects += 1
            facts.attempts += 1
        }
    }

    /// - Parameter waiting: headers that are not registered yet.
    func headerRegistered(waiting: Int) {
        facts.withLock { facts in
            facts.headersRegistered += 1
            facts.headersUnregistered = UInt64(waiting)
            facts.registrationFailed = false
        }
    }

    /// Warns once per outage, and of each header that is refused.
    func headerNotRegistered(waiting: Int, failure: RegistrationFailure) {
        let isNews = facts.withLock { facts in
            facts.headersUnregistered = UInt64(waiting)
            defer { facts.registrationFailed = true }
            return !facts.registrationFailed
        }
        switch failure.kind {
        case .refused: warn("the KAS refuses one of our headers, and gives its key to no one: \(failure.reason)")
        case .unsupported where isNews:
            warn(
                "this KAS does not support registrations: it cannot confirm to viewers whose stream they see (\(failure.reason))"
            )
        case .away where isNews, .notAdmitted where isNews:
            warn("the KAS does not confirm our headers, viewers may be refused meanwhile: \(failure.reason)")
        default: break
        }
    }

    func warn(_ text: String) {
        logger.warning("\(text)")
        continuation.yield(.warning(text))
    }

    /// Something with a code that an operator should read, though the camera goes on.
    func warn(_ error: CodedError) {
        logger.warning("\(error)", metadata: ["code": "\(error.code)"])
        continuation.yield(.warning("\(error)"))
    }

    /// Into the state each time, and to the log when it is news.
    func redirectRefused(_ error: CodedError, isNews: Bool) {
        facts.withLock { facts in
            facts.reason = "\(error.what): \(error.why ?? "")"
            facts.code = error.code
        }
        if isNews { warn(error) }
    }

    func report(_ event: CameraEvent) {
        continuation.yield(event)
    }

    /// Nothing more will happen.
    func finish() {
        reporting.withLock { $0.timer?.cancel() }
        continuation.finish()
    }
}
