internal import Synchronization

/// One request between its caller, who waits, and the worker thread: whoever comes first with a result gives it, and
/// the caller gets exactly one.
final class Exchange: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPClientError>

    private enum State {
        case idle
        case waiting(CheckedContinuation<Outcome, Never>)
        /// Decided before the caller had begun to wait.
        case early(Outcome)
        case finished
    }

    let request: HTTPRequest
    /// Where the body goes piece by piece; nil when the caller waits for all of it.
    let stream: BodyStream?
    private let state = Mutex<State>(.idle)

    init(_ request: HTTPRequest, stream: BodyStream? = nil) {
        self.request = request
        self.stream = stream
    }

    func wait(_ continuation: CheckedContinuation<Outcome, Never>) {
        let early: Outcome? = state.withLock { state in
            switch state {
            case .idle:
                state = .waiting(continuation)
                return nil
            case .early(let outcome):
                state = .finished
                return outcome
            case .waiting, .finished: preconditionFailure("waited twice for one exchange")
            }
        }
        if let early { continuation.resume(returning: early) }
    }

    func finish(_ outcome: Outcome) {
        let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .idle:
                state = .early(outcome)
                return nil
            case .waiting(let continuation):
                state = .finished
                return continuation
            case .early, .finished: return nil
            }
        }
        waiting?.resume(returning: outcome)
        // The first outcome counts there as well.
        stream?.end(outcome)
    }

    /// Nobody wants the result any more.
    var isDecided: Bool {
        state.withLock { state in
            switch state {
            case .early, .finished: true
            case .idle, .waiting: false
            }
        }
    }
}
