internal import Dispatch
internal import Synchronization
internal import VideoCodec

/// Looks for an encoder on a thread of its own: a probe takes seconds, in which pictures go on.
final class HardwareSearch: Sendable {
    private let found = Mutex<EncoderPlan?>(nil)

    init(_ search: @escaping @Sendable () -> EncoderPlan) {
        DispatchQueue(label: "watchbox.hardware-search", qos: .utility).async { [self] in
            let plan = search()
            found.withLock { $0 = plan }
        }
    }

    /// Nil while it lasts.
    var result: EncoderPlan? { found.withLock { $0 } }
}
