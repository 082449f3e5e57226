internal import CameraModel
internal import ErrorCatalog
internal import Synchronization
internal import UplinkRate

/// The bitrate of a camera's encoder, which two ask for: an operator, whose word is the most, and the uplink, which takes less while it bears
/// less. From any thread; it waits for nothing but locks.
final class EncoderBitrate: Sendable {
    /// Bits per second.
    struct Current: Equatable, Sendable {
        /// What the encoder has.
        var bitrate: Int
        /// As configured.
        var most: Int
        /// Grows with each change by an operator.
        var revision: UInt64 = 0
    }

    private let state: Mutex<Current>
    private let kindNow: @Sendable () -> EncoderPace.Kind
    private let ask: @Sendable (VideoChange) throws(CodedError) -> Void

    /// - Parameters:
    ///   - most: what the encoder begins with.
    ///   - kind: how the encoder in use gets to another bitrate.
    ///   - ask: changes the source. Waits for nothing.
    init(
        _ most: Int, kind: @escaping @Sendable () -> EncoderPace.Kind = { .live },
        ask: @escaping @Sendable (VideoChange) throws(CodedError) -> Void
    ) {
        state = Mutex(Current(bitrate: most, most: most))
        kindNow = kind
        self.ask = ask
    }

    var current: Current { state.withLock { $0 } }

    /// Another encoder may have taken over since it was asked last.
    var kind: EncoderPace.Kind { kindNow() }

    /// The uplink bears so much.
    ///
    /// - Returns: false when the source refused it.
    func follow(_ bitrate: Int) -> Bool {
        state.withLock { state in
            let bitrate = min(bitrate, state.most)
            do throws(CodedError) {
                try ask(VideoChange(bitrate: bitrate))
            } catch {
                return false
            }
            state.bitrate = bitrate
            return true
        }
    }

    /// An operator's change. Its bitrate is the most from now on; the encoder is given it at once, unless the uplink bears less.
    ///
    /// - Throws: as the source does; then nothing changes.
    func change(_ change: VideoChange) throws(CodedError) {
        try state.withLock { state throws(CodedError) in
            guard let most = change.bitrate else { return try ask(change) }
            var asked = change
            // One that is out of range is the source's to refuse.
            if state.bitrate < state.most, most > state.bitrate, (try? change.validate()) != nil {
                asked.bitrate = state.bitrate
            }
            try ask(asked)
            state.bitrate = asked.bitrate ?? most
            state.most = most
            state.revision += 1
        }
    }
}
