internal import Media
internal import Synchronization

/// Hands the next key frame to those who asked for a picture. Nothing is kept for anybody else.
///
/// A picture that is made of coded key frames is right for every source: what was masked is masked, and nothing is decoded
/// as long as nobody asks.
final class KeyFrameTap: Sendable {
    struct KeyFrame: Sendable {
        var format: VideoFormat
        var unit: AccessUnit
    }

    enum Refusal: Error, Equatable {
        case tooMany
        /// The source has ended, or no key frame came in time.
        case none
    }

    private struct State {
        var format: VideoFormat?
        var waiters: [UInt64: CheckedContinuation<KeyFrame, any Error>] = [:]
        var next: UInt64 = 0
        var hasEnded = false
    }

    private static let mostWaiters = 8

    private let state = Mutex(State())

    /// From the source's thread.
    func observed(_ event: MediaEvent) {
        switch event {
        case .videoFormat(let format): state.withLock { $0.format = format }
        case .audioFormat: break
        case .accessUnit(let unit):
            guard unit.isKeyFrame, unit.track.isVideo else { return }
            let (format, waiters) = state.withLock { state in
                defer { state.waiters = [:] }
                return (state.format, state.waiters)
            }
            for waiter in waiters.values {
                if let format {
                    waiter.resume(returning: KeyFrame(format: format, unit: unit))
                } else {
                    waiter.resume(throwing: Refusal.none)
                }
            }
        }
    }

    /// From the source's thread: no more will come.
    func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(throwing: Refusal.none) }
    }

    /// The next key frame.
    /// - Parameter request: asks the source for one; called when the answer can no longer be missed.
    func next(within limit: Duration, request: () -> Void) async throws -> KeyFrame {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let timeout = Task {
            try await Task.sleep(for: limit)
            self.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: Refusal.none)
        }
        defer { timeout.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let refusal: (any Error)? = state.withLock { state in
                    if state.hasEnded { return Refusal.none }
                    if Task.isCancelled { return CancellationError() }
                    if state.waiters.count >= Self.mostWaiters { return Refusal.tooMany }
                    state.waiters[id] = continuation
                    return nil
                }
                if let refusal { return continuation.resume(throwing: refusal) }
                request()
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}
