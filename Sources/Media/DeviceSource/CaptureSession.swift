/// What to do about a camera: look for it, start it, start it again, or wait. Never gives up: a camera that is plugged
/// in tomorrow is shown tomorrow, and until then the reason is in the status.
struct CaptureSession: Equatable, Sendable {
    /// What can be done about a fault.
    enum Remedy: Equatable, Sendable {
        /// It is not there, or not yet ours: it may come.
        case wait
        /// Its stream stopped: starting it again may be enough.
        case restart
        /// The settings do not fit the device; only a person, or another device in its place, helps.
        case person
    }

    enum Action: Equatable, Sendable {
        /// Look for the device, open it, and start its stream.
        case open
        /// Start the stream of the open device again.
        case restart
        /// Take frames.
        case capture
        /// Nanoseconds; then ask again.
        case wait(UInt64)
    }

    private enum State: Equatable, Sendable {
        case closed(notBefore: UInt64)
        /// Open, but without a stream.
        case faulty
        case streaming
    }

    private var state = State.closed(notBefore: 0)
    /// Since the last frame.
    private var failures = 0
    private var restarts = 0
    private var frameAt: UInt64?
    private var startedAt: UInt64 = 0

    /// Steps of waiting so far.
    private(set) var attempts: UInt64 = 0
    /// Streams that ended before their time.
    private(set) var interruptions: UInt64 = 0

    /// Restarts of a stream that gave no frame before the device is opened again.
    private static let maxRestarts = 3
    private static let maxPause: UInt64 = 2_000_000_000
    private static let minPause: UInt64 = 200_000_000
    private static let personPause: UInt64 = 5_000_000_000
    /// Nanoseconds without a frame after which a stream is faulty, and the same in frames for a slow camera.
    static let maxSilence: UInt64 = 3_000_000_000
    static let maxMissing = 8.0

    var isStreaming: Bool { state == .streaming }

    mutating func next(at now: UInt64) -> Action {
        switch state {
        case .closed(let notBefore):
            guard now >= notBefore else { return .wait(notBefore - now) }
            attempts += 1
            return .open
        case .faulty:
            attempts += 1
            return .restart
        case .streaming: return .capture
        }
    }

    mutating func started(at now: UInt64) {
        state = .streaming
        startedAt = now
        frameAt = nil
    }

    mutating func frameArrived(at now: UInt64) {
        frameAt = now
        failures = 0
        restarts = 0
    }

    /// Whether a stream that gives nothing is to be taken for faulty.
    /// - Parameter rate: frames per second that the driver promised.
    func isSilent(rate: Double, at now: UInt64) -> Bool {
        guard state == .streaming else { return false }
        let since = max(frameAt ?? 0, startedAt)
        let slow = rate > 0.001 ? UInt64(Self.maxMissing / rate * 1e9) : 0
        return now > since && now - since > max(Self.maxSilence, slow)
    }

    /// The device is to be opened again, with other settings.
    mutating func settingsChanged(at now: UInt64) {
        state = .closed(notBefore: now)
    }

    mutating func faulted(_ remedy: Remedy, at now: UInt64) {
        if state == .streaming { interruptions += 1 }
        failures += 1
        switch remedy {
        case .restart:
            restarts += 1
            if restarts <= Self.maxRestarts, state == .streaming || state == .faulty {
                state = .faulty
                return
            }
            restarts = 0
            state = .closed(notBefore: now &+ pause)
        case .wait: state = .closed(notBefore: now &+ pause)
        case .person: state = .closed(notBefore: now &+ Self.personPause)
        }
    }

    /// Grows from a fifth of a second: a camera that has just been plugged in should show its frame at once.
    private var pause: UInt64 {
        // For the first five seconds every fifth of a second, then slower.
        failures <= 25 ? Self.minPause : min(Self.maxPause, Self.minPause * UInt64(failures - 24))
    }
}
