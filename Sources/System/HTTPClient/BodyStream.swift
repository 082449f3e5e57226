internal import Platform
internal import Synchronization

/// The body of one streamed answer on its way from the worker thread to the one who reads it.
///
/// Bounded: when it is full, the worker pauses the transfer, and so the server, until the reader has taken all of it.
final class BodyStream: Sendable {
    /// Bytes that may wait for the reader.
    static let capacity = 256 * 1024

    private struct State {
        var chunks: [[UInt8]] = []
        var bytes = 0
        var isPaused = false
        /// Set once, after the last chunk.
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<[UInt8]?, any Error>?
    }

    private let state = Mutex(State())

    /// False when there is no room: the transfer is to be paused, and these bytes come again after `takeResumption`.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let chunk = [UInt8](bytes)
        let (isTaken, reader) = state.withLock { state -> (Bool, CheckedContinuation<[UInt8]?, any Error>?) in
            if let reader = state.reader.take() { return (true, reader) }
            guard state.bytes == 0 || state.bytes + chunk.count <= Self.capacity else {
                state.isPaused = true
                return (false, nil)
            }
            state.chunks.append(chunk)
            state.bytes += chunk.count
            return (true, nil)
        }
        reader?.resume(returning: chunk)
        return isTaken
    }

    /// What was offered before is still read; after that, the end.
    func end(_ outcome: Exchange.Outcome) {
        let end: Result<Void, any Error> =
            switch outcome {
            case .success(let response) where Self.isSuccess(response.status): .success(())
            case .success(let response): .failure(HTTPStatusError(response: response))
            case .failure(let error): .failure(error)
            }
        let reader = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            guard state.end == nil else { return nil }
            state.end = end
            return state.reader.take()
        }
        reader?.resume(with: end.map { nil })
    }

    static func isSuccess(_ status: Int) -> Bool { (200...299).contains(status) }

    private enum Step {
        case chunk([UInt8], resumes: Bool)
        case end(Result<Void, any Error>)
        case wait
    }

    /// The next bytes; nil after the last. One reader at a time.
    ///
    /// - Parameter resume: called when the transfer was paused and there is room again.
    func next(resume: () -> Void) async throws -> [UInt8]? {
        let step = state.withLock { Self.step(&$0) }
        switch step {
        case .chunk(let chunk, let resumes):
            if resumes { resume() }
            return chunk
        case .end(let end):
            try end.get()
            return nil
        case .wait: return try await wait(resume: resume)
        }
    }

    private func wait(resume: () -> Void) async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            let step = state.withLock { state -> Step in
                let step = Self.step(&state)
                if case .wait = step { state.reader = continuation }
                return step
            }
            switch step {
            case .chunk(let chunk, let resumes):
                if resumes { resume() }
                continuation.resume(returning: chunk)
            case .end(let end): continuation.resume(with: end.map { nil })
            case .wait: break
            }
        }
    }

    private static func step(_ state: inout State) -> Step {
        guard !state.chunks.isEmpty else { return state.end.map { .end($0) } ?? .wait }
        let chunk = state.chunks.removeFirst()
        state.bytes -= chunk.count
        return .chunk(chunk, resumes: state.isPaused && state.chunks.isEmpty)
    }

    /// True once after each pause that may end.
    func takeResumption() -> Bool {
        state.withLock { state in
            guard state.isPaused, state.chunks.isEmpty else { return false }
            state.isPaused = false
            return true
        }
    }
}

/// Holds a streamed answer for as long as somebody may read it, and its client with it; ends the transfer after that.
final class BodyReader: Sendable {
    private let client: HTTPClient
    private let worker: Worker
    private let exchange: Exchange
    private let stream: BodyStream

    init(_ client: HTTPClient, _ worker: Worker, _ exchange: Exchange, _ stream: BodyStream) {
        self.client = client
        self.worker = worker
        self.exchange = exchange
        self.stream = stream
    }

    deinit { if !exchange.answer.isGiven { worker.cancel(exchange) } }

    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await stream.next { worker.resume() }
        } onCancel: {
            worker.cancel(exchange)
        }
    }
}
