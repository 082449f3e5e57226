internal import Dispatch
internal import VideoCodec

/// Looks at an encoder's heartbeat from a thread of its own, because the thread that waits for the encoder cannot.
final class EncoderWatch {
    private let timer: any DispatchSourceTimer

    /// - Parameter hung: called once at most.
    init(_ heartbeat: EncoderHeartbeat, hung: @escaping @Sendable () -> Void) {
        let step = HangDetector().step
        let queue = DispatchQueue(label: "watchbox.encoder-watch", qos: .userInitiated)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let looker = Looker(heartbeat, hung: hung)
        timer.schedule(
            deadline: .now() + .nanoseconds(Int(step)), repeating: .nanoseconds(Int(step)), leeway: .milliseconds(5))
        timer.setEventHandler { looker.look() }
        timer.resume()
        self.timer = timer
    }

    deinit { timer.cancel() }

    /// Confined to the timer's queue, which makes `@unchecked Sendable` true.
    private final class Looker: @unchecked Sendable {
        private let heartbeat: EncoderHeartbeat
        private let hung: @Sendable () -> Void
        private var detector = HangDetector()
        private var hasReported = false

        init(_ heartbeat: EncoderHeartbeat, hung: @escaping @Sendable () -> Void) {
            self.heartbeat = heartbeat
            self.hung = hung
        }

        func look() {
            let isHung = detector.observed(
                isBusy: heartbeat.busySince != nil, beat: heartbeat.beats, at: SourceClock.now)
            guard isHung, !hasReported else { return }
            hasReported = true
            hung()
        }
    }
}
