/// What to do about a camera on the network: connect, watch, or wait for the next attempt. Never gives up, and never
/// hammers: a login that was refused twice is tried again every quarter of an hour, because cameras lock accounts.
///
/// No input or output: inputs are what happened, at which instant (CLOCK_MONOTONIC, nanoseconds).
public struct PullSupervision: Sendable {
    /// How an attempt ended.
    public enum Ending: Equatable, Sendable {
        /// Not reached, broken off, or anything else that may be over in a moment.
        case broken
        /// Pictures stopped though the connection stands.
        case stalled
        /// User or password were refused.
        case loginRefused
        /// The camera's viewers are as many as it takes.
        ///
        /// - Parameter seconds: how long it asks to wait; nil when it does not say.
        case busy(seconds: Int?)
        /// Only a person helps: a login that is missing, a codec that cannot be published.
        case person
    }

    /// Who asks for an attempt now.
    public enum Nudge: Equatable, Sendable {
        /// The camera announced itself. Everybody on its network can forge that, so it never shortens what protects the
        /// account.
        case announcement
        /// Settings or password changed.
        case person
    }

    public enum State: Equatable, Sendable {
        case connecting
        case live
        case stalled
        case waiting(until: UInt64)
        case refused(until: UInt64)
    }

    public enum Action: Equatable, Sendable {
        case connect
        /// Nanoseconds; then ask again.
        case wait(UInt64)
        /// The attempt goes on.
        case watch
    }

    public private(set) var state: State
    /// Attempts to connect.
    public private(set) var attempts: UInt64 = 0
    /// Of these, the ones that brought pictures.
    public private(set) var connections: UInt64 = 0
    public private(set) var stalls: UInt64 = 0
    /// Grows with each attempt and each step of a wait that is meant: what a watchdog sees of a source that gets on.
    public private(set) var steps: UInt64 = 0

    /// Since the stream was last live for long enough.
    private var failures = 0
    private var refusals = 0
    private var liveSince: UInt64?
    private var nudgedAt: UInt64?
    private var steppedAt: UInt64 = 0
    /// 0 ≤ value < 1.
    private let random: @Sendable () -> Double

    /// The middle of the first pause; with its jitter it stays below a second.
    static let firstPause = 0.8e9
    static let longestPause = 60e9
    static let jitter = 0.25
    /// Nanoseconds that a stream must have been live for its failures to be forgotten.
    static let longEnough: UInt64 = 30_000_000_000
    static let refusalPause: UInt64 = 900_000_000_000
    static let mostRefusals = 2
    static let busyPause = 30
    static let longestBusyPause = 600
    /// Between two steps of one wait.
    static let step: UInt64 = 5_000_000_000
    /// Between two announcements that count.
    static let nudgePause: UInt64 = 5_000_000_000

    /// - Parameter random: evenly distributed in 0..<1.
    public init(random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }) {
        self.random = random
        state = .waiting(until: 0)
    }

    public mutating func next(at now: UInt64) -> Action {
        switch state {
        case .connecting, .live, .stalled: return .watch
        case .waiting(let until), .refused(let until):
            guard now < until else {
                state = .connecting
                attempts += 1
                steps += 1
                steppedAt = now
                return .connect
            }
            if now >= steppedAt &+ Self.step {
                steps += 1
                steppedAt = now
            }
            return .wait(min(until - now, Self.step))
        }
    }

    /// Something of an attempt is done, or is waited for with an end in sight.
    public mutating func progressed() {
        steps += 1
    }

    /// A picture came that a viewer can begin with, or the first one after a stall.
    public mutating func pictureArrived(at now: UInt64) {
        switch state {
        case .connecting:
            state = .live
            connections += 1
            liveSince = now
            refusals = 0
        case .stalled:
            state = .live
            liveSince = now
        case .live:
            guard failures > 0, let liveSince, now >= liveSince &+ Self.longEnough else { return }
            failures = 0
        case .waiting, .refused: break
        }
    }

    /// Pictures stopped; the attempt is about to be ended.
    public mutating func stalled(at now: UInt64) {
        guard state == .live || state == .connecting else { return }
        state = .stalled
        stalls += 1
    }

    public mutating func ended(_ ending: Ending, at now: UInt64) {
        if let liveSince, now >= liveSince &+ Self.longEnough { failures = 0 }
        liveSince = nil
        steppedAt = now
        switch ending {
        case .broken, .stalled:
            state = .waiting(until: now &+ pause())
        case .busy(let seconds):
            // A camera that says 0 gets a second; one that says a year gets ten minutes.
            let pause = min(max(seconds ?? Self.busyPause, 1), Self.longestBusyPause)
            state = .waiting(until: now &+ UInt64(pause) &* 1_000_000_000)
        case .loginRefused:
            refusals += 1
            guard refusals < Self.mostRefusals else {
                state = .refused(until: now &+ Self.refusalPause)
                return
            }
            // Some cameras lose a nonce: once more, not at once.
            state = .waiting(until: now &+ 2_000_000_000)
        case .person:
            state = .refused(until: now &+ Self.refusalPause)
        }
    }

    /// The next attempt is to come now, as if it were the first. While one runs, nothing changes.
    ///
    /// - Returns: whether it will.
    @discardableResult
    public mutating func nudged(by nudge: Nudge, at now: UInt64) -> Bool {
        switch (state, nudge) {
        case (.waiting, .announcement):
            if let nudgedAt, now < nudgedAt &+ Self.nudgePause { return false }
            // Only one pause is shortened; how long the next is stays as it was.
            guard refusals == 0 else { return false }
        case (.waiting, .person), (.refused, .person):
            failures = 0
            refusals = 0
        default: return false
        }
        nudgedAt = now
        state = .waiting(until: now)
        return true
    }

    /// Nanoseconds until the next attempt; nil while one runs.
    public func pause(at now: UInt64) -> UInt64? {
        switch state {
        case .connecting, .live, .stalled: nil
        case .waiting(let until), .refused(let until): until > now ? until - now : 0
        }
    }

    private mutating func pause() -> UInt64 {
        let doublings = min(failures, 16)
        failures += 1
        let middle = min(Self.firstPause * Double(1 << doublings), Self.longestPause / (1 + Self.jitter))
        let factor = 1 - Self.jitter + 2 * Self.jitter * min(max(random(), 0), 1)
        return UInt64(middle * factor)
    }
}
