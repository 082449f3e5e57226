internal import Platform
internal import Synchronization
internal import VideoCodec

/// Looks for an encoder on a thread of its own: a probe takes seconds, in which frames go on.
final class HardwareSearch: Sendable {
    private let found = Mutex<EncoderPlan?>(nil)

    /// Nil when no thread can be made.
    init?(_ search: @escaping @Sendable () -> EncoderPlan) {
        let isStarted = OwnThread.start(stackBytes: OwnThread.codingStackBytes) { [self] in
            let plan = search()
            found.withLock { $0 = plan }
        }
        guard isStarted else { return nil }
    }

    /// Nil while it lasts.
    var result: EncoderPlan? { found.withLock { $0 } }
}
