internal import Media
internal import Platform
internal import Synchronization

/// Hands the next key frame to those who asked for a frame. Nothing is kept for anybody else.
///
/// A frame that is made of encoded key frames is right for every source: what was masked is masked, and nothing is
/// decoded as long as nobody asks.
final class KeyFrameTap: FrameObserver {
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
        var waiters: [OneAnswer<Result<KeyFrame, any Error>>] = []
        var hasEnded = false
    }

    private static let maxWaiters = 8

    private let state = Mutex(State())

    /// From the source's thread.
    func observed(_ event: MediaEvent) {
        switch event {
        case .videoFormat(let format): state.withLock { $0.format = format }
        case .audioFormat: break
        case .accessUnit(let unit):
            guard unit.isKeyFrame, unit.track.isVideo else { return }
            let (format, waiters) = state.withLock { state in
                defer { state.waiters = [] }
                return (state.format, state.waiters)
            }
            let keyFrame = format.map { KeyFrame(format: $0, unit: unit) }
            for waiter in waiters { waiter.give(keyFrame.map { .success($0) } ?? .failure(Refusal.none)) }
        }
    }

    /// From the source's thread: no more will come.
    func ended() {
        let waiters = state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.give(.failure(Refusal.none)) }
    }

    /// The next key frame.
    /// - Parameter request: asks the source for one; called when the answer can no longer be missed.
    func next(within limit: Duration, request: () -> Void) async throws -> KeyFrame {
        let answer = OneAnswer<Result<KeyFrame, any Error>>()
        let timeout = Task {
            try await Task.sleep(for: limit)
            answer.give(.failure(Refusal.none))
        }
        defer { timeout.cancel() }
        return try await answer.value {
            let refusal = state.withLock { state -> Refusal? in
                state.waiters.removeAll { $0.isGiven }
                if state.hasEnded { return Refusal.none }
                if state.waiters.count >= Self.maxWaiters { return .tooMany }
                state.waiters.append(answer)
                return nil
            }
            if let refusal { answer.give(.failure(refusal)) }
            if !answer.isGiven { request() }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }.get()
    }
}
