internal import Dispatch
internal import Media
internal import Synchronization

/// The frame queue between the source's thread and the event loop that seals and sends.
///
/// Puts a lock around `FrameQueue`, wakes the loop only when it has run dry, and holds the thread of a source that may
/// not outrun the relay.
final class FrameChannel: Sendable {
    struct Offered: Equatable {
        /// The source is to make a key frame.
        var requestKeyFrame: Bool
        /// The loop has run dry and is to look again.
        var wake: Bool
    }

    private struct State {
        var queue: FrameQueue
        /// The loop saw the end of the queue and sleeps.
        var consumerIsIdle = true
        var sourceWaits = false
        /// Nothing more is taken; a waiting source goes on and is not informed.
        var isFinished = false
        /// Decode time of the newest frame.
        var newestFrame: MediaTime?

        /// Audio between flowing frames goes out with the next one: a wake-up, a record and a packet of its own for
        /// each of 47 small frames a second were half of what a stream cost.
        mutating func mayWait(_ event: MediaEvent) -> Bool {
            guard case .accessUnit(let unit) = event else { return false }
            if unit.track.isVideo {
                newestFrame = unit.decodeTime
                return false
            }
            guard queue.discipline == .live, let newestFrame else { return false }
            let distance = unit.decodeTime - newestFrame
            return distance < FrameChannel.audioWaits && newestFrame - unit.decodeTime < FrameChannel.audioWaits
        }
    }

    /// How far audio may be from the newest frame and still wait for the next one.
    private static let audioWaits = MediaTime(milliseconds: 100)

    private let state: Mutex<State>
    private let room = DispatchSemaphore(value: 0)

    init(_ queue: FrameQueue) {
        state = Mutex(State(queue: queue))
    }

    // MARK: - On the source's thread

    /// Blocks while a back-pressured queue is full.
    func offer(_ event: MediaEvent) -> Offered {
        while true {
            let offered: Offered? = state.withLock { state in
                guard !state.isFinished else { return Offered(requestKeyFrame: false, wake: false) }
                if state.queue.discipline == .backPressured, state.queue.isFull {
                    state.sourceWaits = true
                    return nil
                }
                let action = state.queue.offer(event)
                let waits = state.mayWait(event)
                let wake = state.consumerIsIdle && state.queue.isOpen && !waits
                if wake { state.consumerIsIdle = false }
                return Offered(requestKeyFrame: action == .requestKeyFrame, wake: wake)
            }
            if let offered { return offered }
            room.wait()
        }
    }

    /// The source has delivered everything.
    func sourceEnded() {
        state.withLock { $0.isFinished = true }
    }

    // MARK: - On the event loop

    func next() -> MediaEvent? {
        var freed = false
        let event = state.withLock { state in
            let event = state.queue.next()
            if event == nil { state.consumerIsIdle = true }
            if state.sourceWaits, state.queue.units * 2 <= state.queue.limits.units,
                state.queue.bytes * 2 <= state.queue.limits.bytes
            {
                state.sourceWaits = false
                freed = true
            }
            return event
        }
        if freed { room.signal() }
        return event
    }

    /// What `next()` would return.
    var upcoming: MediaEvent? { state.withLock { $0.queue.upcoming } }

    /// A relay listens. Where the queue was not closed since the last one, what waits in it is for this one.
    /// - Returns: the source is to make a key frame.
    func open() -> Bool {
        state.withLock { state in
            state.consumerIsIdle = false
            return state.queue.open() == .requestKeyFrame
        }
    }

    /// The relay is gone.
    func close() {
        state.withLock { state in
            state.queue.close()
            state.consumerIsIdle = true
        }
    }

    /// What waits is too old to be worth sending.
    /// - Returns: the source is to make a key frame.
    func dropWaitingVideo() -> Bool {
        state.withLock { $0.queue.dropWaitingVideo() == .requestKeyFrame }
    }

    /// Takes nothing more and lets a waiting source go.
    func abandon() {
        let waits = state.withLock { state in
            state.isFinished = true
            defer { state.sourceWaits = false }
            return state.sourceWaits
        }
        if waits { room.signal() }
    }

    /// Everything that the source delivered has left.
    var isDrained: Bool {
        state.withLock { $0.isFinished && ($0.queue.units == 0) }
    }

    var snapshot: FrameQueueSnapshot {
        state.withLock { state in
            FrameQueueSnapshot(
                counters: state.queue.counters, units: state.queue.units, bytes: state.queue.bytes,
                duration: state.queue.waitingDuration)
        }
    }
}

struct FrameQueueSnapshot {
    var counters: FrameQueue.Counters
    var units: Int
    var bytes: Int
    var duration: MediaTime
}
