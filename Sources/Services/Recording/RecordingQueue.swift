internal import CameraPipeline
internal import Media
internal import Platform
internal import Synchronization

/// Coded frames between the source's threads and the thread that writes them. It is bounded and never blocks: what a slow disk does
/// not take is given up here, as whole groups of pictures, and counted.
final class RecordingQueue: Sendable {
    private struct State {
        var queue: FrameQueue
        var hasEnded = false
        /// The writer was woken for what waits.
        var isSignalled = false
        /// Units before the first that a decoder can begin with: nothing is lost with them.
        var passed: UInt64?
    }

    /// Bytes that are worth waking the writer for before a key frame comes.
    private static let batch = 1 << 20

    private let state: Mutex<State>
    private let wakeup = Wakeup()

    /// - Parameter limits: of what waits.
    init(_ limits: FrameQueue.Limits) {
        // The relay's queue does it already.
        var queue = FrameQueue(limits: limits, comparesFrames: false)
        _ = queue.open()
        state = Mutex(State(queue: queue))
    }

    /// From the source's threads.
    func offer(_ event: MediaEvent) {
        let wakes = state.withLock { state in
            guard !state.hasEnded else { return false }
            _ = state.queue.offer(event)
            if state.passed == nil, case .accessUnit(let unit) = event, unit.track.isVideo, unit.isKeyFrame {
                state.passed = state.queue.counters.videoDropped
            }
            guard !state.isSignalled else { return false }
            // A fragment ends at a key frame: before that there is little to write.
            var isKeyFrame = false
            if case .accessUnit(let unit) = event { isKeyFrame = unit.track.isVideo && unit.isKeyFrame }
            state.isSignalled = isKeyFrame || state.queue.bytes >= Self.batch
            return state.isSignalled
        }
        if wakes { wakeup.signal() }
    }

    /// No more will come. From any thread.
    func end() {
        state.withLock { $0.hasEnded = true }
        wakeup.stop()
    }

    /// There is something to decide. From any thread.
    func wake() {
        wakeup.signal()
    }

    /// On the writer's thread: waits for work, at most this many nanoseconds.
    func wait(_ nanoseconds: UInt64) {
        wakeup.wait(nanoseconds)
    }

    /// All that waits, and whether more may come.
    func take() -> (events: [MediaEvent], hasEnded: Bool) {
        state.withLock { state in
            var events: [MediaEvent] = []
            while let event = state.queue.next() { events.append(event) }
            state.isSignalled = false
            return (events, state.hasEnded)
        }
    }

    /// Access units that were given up.
    var dropped: UInt64 {
        state.withLock { state in
            let counters = state.queue.counters
            return counters.videoDropped - (state.passed ?? counters.videoDropped) + counters.audioDropped
        }
    }
}
