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
        /// Which decoder of audio is heard.
        var audioGeneration = 0
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

    /// What another one still makes of earlier frames is not handed on any more: a camera may change its encoding.
    func takeVideo(of maker: Maker) {
        state.withLock { state in
            guard state.maker != maker else { return }
            state.maker = maker
            // The other one's format says nothing about what comes now.
            state.video = nil
        }
    }

    /// The same for audio: what decoders that were begun earlier still make is not handed on.
    ///
    /// - Returns: what the next one hands in its audio with.
    func takeAudio() -> Int {
        state.withLock { state in
            state.audioGeneration += 1
            return state.audioGeneration
        }
    }

    /// - Parameter maker: nil for audio.
    /// - Parameter audio: of a decoder of its own, from `takeAudio`.
    func deliver(_ event: MediaEvent, of maker: Maker? = nil, audioGeneration: Int? = nil) {
        state.withLock { state in
            guard !state.isOver, maker == nil || maker == state.maker,
                audioGeneration == nil || audioGeneration == state.audioGeneration
            else { return }
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
