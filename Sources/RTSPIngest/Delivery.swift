internal import Media
internal import Synchronization

/// Hands on what two threads make, one event at a time: formats when they change, and nothing after the end.
final class Delivery: Sendable {
    /// Whose video it is.
    enum Maker {
        case camera, encoder
    }

    private struct State {
        var maker: Maker?
        var video: VideoFormat?
        var audio: AudioFormat?
        var isOver = false
    }

    private let state = Mutex(State())
    private let receive: @Sendable (MediaEvent) -> Void

    init(_ receive: @escaping @Sendable (MediaEvent) -> Void) {
        self.receive = receive
    }

    var video: VideoFormat? { state.withLock { $0.video } }

    /// What another one still makes of earlier pictures is not handed on any more: a camera may change its coding.
    func takeVideo(of maker: Maker) {
        state.withLock { $0.maker = maker }
    }

    /// - Parameter maker: nil for sound.
    func deliver(_ event: MediaEvent, of maker: Maker? = nil) {
        state.withLock { state in
            guard !state.isOver, maker == nil || maker == state.maker else { return }
            switch event {
            case .videoFormat(let format):
                guard format != state.video else { return }
                state.video = format
            case .audioFormat(let format):
                guard format != state.audio else { return }
                state.audio = format
            case .accessUnit: break
            }
            // Under the lock: the order in which two threads come is the order in which events go.
            receive(event)
        }
    }

    /// A thread that still works is not heard any more.
    func end() {
        state.withLock { $0.isOver = true }
    }
}
