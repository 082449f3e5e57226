import Glibc
import Synchronization
import VideoCodec

/// Ends the process when a call into the encoder does not end: nothing else can, from inside.
final class StuckGuard: Sendable {
    private let heartbeat: EncoderHeartbeat
    private let deadline: Double
    private let count = Atomic<Int>(0)

    init(_ heartbeat: EncoderHeartbeat, seconds: Double) {
        self.heartbeat = heartbeat
        deadline = seconds
    }

    /// So many were encoded before it hung.
    var frames: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }

    func start() {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<StuckGuard>.fromOpaque(context).takeRetainedValue().watch() }
                return nil
            }, context)
        pthread_detach(thread)
    }

    private func watch() {
        while true {
            usleep(20_000)
            let now = monotonicNanoseconds()
            guard heartbeat.isStuck(longerThan: UInt64(deadline * 1e9), now: now) else { continue }
            Report.say("hang", ["pictures": .number(frames), "seconds": .real(deadline)])
            _exit(9)
        }
    }
}
