internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Synchronization

/// What is known of a camera beside the counters of the frame path: its state, and the events that people and
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

    init(logger: Logger) {
        self.logger = logger
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
        guard changed else { return }
        var logger = logger
        logger[metadataKey: "event"] = "\(state.rawValue)"
        if let code { logger[metadataKey: "code"] = "\(code)" }
        let text = reason.map { "\(state.rawValue): \($0)" } ?? state.rawValue
        switch state {
        case .failed: logger.error("\(text)")
        case .waitingForKey, .waitingToReconnect: logger.warning("\(text)")
        case .publishing, .stopped: logger.notice("\(text)")
        case .starting, .connecting, .stopping: logger.info("\(text)")
        }
        continuation.yield(.stateChanged(state, reason: reason))
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
        case .refused: warn("the KAS refuses a header of ours, and gives nobody its key: \(failure.reason)")
        case .unsupported where isNews:
            warn("this KAS takes no registrations: it cannot tell viewers whose stream they see (\(failure.reason))")
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

    func tell(_ event: CameraEvent) {
        continuation.yield(event)
    }

    /// Nothing more will happen.
    func finish() {
        continuation.finish()
    }
}
