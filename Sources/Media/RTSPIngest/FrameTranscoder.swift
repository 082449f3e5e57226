internal import CameraModel
internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCodec

/// A camera's JPEG images made into H.264 on a thread of their own: decoded in a child that has nothing to lose,
/// encoded in software. Who hands them in never waits; the newest one wins. To be stopped, or its thread goes on.
final class FrameTranscoder: Sendable {
    /// What there is to report.
    struct Shown: Equatable, Sendable {
        /// FFmpeg's name; nil before the first frame.
        var encoder: String?
        var reason: String?
        /// What could not be held, and whether decoders fell over.
        var limit: String?
        /// Frames per second that are held.
        var rate: Double?
        /// Could not be read, or ended their decoder.
        var damaged: UInt64 = 0
        /// Left out because this machine does not hold the camera's rate.
        var thinned: UInt64 = 0
        var superseded: UInt64 = 0
        /// From the last packet to the delivery.
        var latency: UInt64?
        /// Why there can be no more frames: no encoder works.
        var failure: String?
    }

    private struct State {
        var queue = DecodingQueue()
        var requests: FrameEncoding.Requests
        var shown = Shown()
        var isRunning = false
        var isResting = false
        var isStopped = false
    }

    private let state: Mutex<State>
    private let wakeup = Wakeup()
    private let program: DecoderProgram
    private let logger: Logger
    private let deliver: @Sendable (MediaEvent) -> Void
    /// `Shown.failure` was set.
    private let failed: @Sendable () -> Void

    init(
        _ transcoding: CameraConfiguration.Network.Transcoding, program: DecoderProgram, logger: Logger,
        failed: @escaping @Sendable () -> Void = {}, deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.failed = failed
        state = Mutex(State(requests: FrameEncoding.Requests(transcoding: transcoding)))
        self.program = program
        self.logger = logger
        self.deliver = deliver
    }

    var shown: Shown {
        state.withLock { state in
            var shown = state.shown
            shown.superseded = state.queue.superseded
            return shown
        }
    }

    /// See `Shown.failure`.
    var hasFailed: Bool { state.withLock { $0.shown.failure != nil } }

    func requestKeyFrame() {
        state.withLock { $0.requests.isKeyFrameRequested = true }
    }

    /// From the next frame on.
    func use(_ transcoding: CameraConfiguration.Network.Transcoding) {
        state.withLock { $0.requests.transcoding = transcoding }
    }

    /// Takes one frame; returns at once.
    ///
    /// - Parameter rate: frames per second as the camera promised; without, the distance of the first two counts.
    func add(_ jpeg: [UInt8], at time: MediaTime, rate: Double?, arrival: UInt64) {
        let isFirst = state.withLock { state in
            guard !state.isStopped else { return false }
            state.queue.add(jpeg, at: time, rate: rate, arrival: arrival)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst, !OwnThread.start(stackBytes: OwnThread.codingStackBytes, { self.run() }) {
            state.withLock { $0.shown.failure = "no thread can be made for it" }
        }
        wakeup.signal()
    }

    /// The thread's; it holds this until `stop`.
    private func run() {
        let coding = FrameEncoding(
            program, logger: logger, isStopped: { self.wakeup.isStopped },
            // A frame may be in its decoder while it is stopped.
            deliver: { event in if !self.wakeup.isStopped { self.deliver(event) } })
        while !wakeup.isStopped {
            let (frame, requests, isResting) = state.withLock { state in
                let frame = state.queue.take()
                defer {
                    if frame != nil { state.requests.isKeyFrameRequested = false }
                    state.isResting = false
                }
                return (frame, state.requests, state.isResting)
            }
            if isResting {
                coding.rest()
                let shown = coding.shown
                state.withLock { $0.shown = shown }
            }
            guard let frame else {
                wakeup.wait(Self.longestWait)
                continue
            }
            do throws(VideoCodecError) {
                try coding.process(frame, requests)
            } catch {
                coding.shown.failure = "\(error)"
            }
            let shown = coding.shown
            state.withLock { $0.shown = shown }
            if shown.failure != nil {
                failed()
                return
            }
        }
    }

    /// The camera encodes its frames itself from now on: gives encoder and decoder back, until the next frame.
    func rest() {
        let isNews = state.withLock { state in
            guard state.isRunning, !state.isResting else { return false }
            _ = state.queue.take()
            state.isResting = true
            return true
        }
        if isNews { wakeup.signal() }
    }

    private static let longestWait: UInt64 = 1_000_000_000

    func stop() {
        state.withLock { $0.isStopped = true }
        wakeup.stop()
    }
}
