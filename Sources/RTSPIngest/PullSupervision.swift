/// What to do about a camera on the network: connect, watch, or wait for the next attempt. Never gives up, and never
/// hammers: a login that was refused twice is tried again every quarter of an hour, because cameras lock accounts.
///
/// No input or output: inputs are what happened, at which instant (CLOCK_MONOTONIC, nanoseconds).
public struct PullSupervision: Sendable {
    /// How an attempt ended.
    public enum Ending: Equatable, Sendable {
        /// Anything that may be over in a moment.
        case broken
        /// Not reached, or the connection broke off: the camera may be starting up when it answers next.
        case away
        /// The camera answers, and grants no stream: 403, or none that can be taken. Only a person helps, unless it is
        /// starting up.
        case unready
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

    /// A camera that was away and answers again starts up, which explains refusals. It does so once: what protects accounts
    /// must not be worn down by a camera that comes and goes.
    private enum Boot {
        /// It was not away yet.
        case expected
        /// It has not answered since it was.
        case away
        /// It answered, and got so many pauses and perhaps one login more for it. The next one has to be earned: by pictures
        /// for long enough.
        case begun(at: UInt64, pauses: Int, hasTriedLogin: Bool)
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
    private var pictureAt: UInt64 = 0
    private var boot = Boot.expected
    private var nudgedAt: UInt64?
    private var steppedAt: UInt64 = 0
    /// 0 ≤ value < 1.
    private let random: @Sendable () -> Double

    /// The middle of the first pause; with its jitter it stays below a second.
    static let firstPause = 0.8e9
    static let longestPause = 60e9
    /// The same after pictures for long enough: with a second to the next key frame less than 1.5 s are lost.
    static let firstPauseAfterPictures = 0.28e9
    /// After a session that had pictures, however few.
    static let longestPauseAfterPictures = 5e9
    static let jitter = 0.25
    /// Nanoseconds from the first picture to the last one after which earlier failures are forgotten.
    static let longEnough: UInt64 = 10_000_000_000
    /// Nanoseconds between attempts at a camera that starts up; with the last one the time is over.
    static let bootPauses: [UInt64] = [5, 10, 15, 30, 30].map { $0 * 1_000_000_000 }
    static let bootTime: UInt64 = 90_000_000_000
    /// Before the one login more that a camera gets which starts up.
    static let bootLoginPause: UInt64 = 60_000_000_000
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
            pictureAt = now
            refusals = 0
        case .stalled:
            state = .live
            liveSince = now
            pictureAt = now
        case .live:
            pictureAt = now
            if isGood {
                failures = 0
                boot = .expected
            }
        case .waiting, .refused: break
        }
    }

    /// Pictures came for long enough.
    private var isGood: Bool {
        liveSince.map { pictureAt >= $0 &+ Self.longEnough } ?? false
    }

    /// Pictures stopped; the attempt is about to be ended.
    public mutating func stalled(at now: UInt64) {
        guard state == .live || state == .connecting else { return }
        state = .stalled
        stalls += 1
    }

    public mutating func ended(_ ending: Ending, at now: UInt64) {
        let pictures = liveSince == nil ? Pictures.none : isGood ? .enough : .few
        liveSince = nil
        steppedAt = now
        noteBoot(ending, at: now)
        switch ending {
        case .broken, .stalled, .away:
            state = .waiting(until: now &+ pause(after: pictures))
        case .busy(let seconds):
            // A camera that says 0 gets a second; one that says a year gets ten minutes.
            let pause = min(max(seconds ?? Self.busyPause, 1), Self.longestBusyPause)
            state = .waiting(until: now &+ UInt64(pause) &* 1_000_000_000)
        case .loginRefused:
            refusals += 1
            if refusals < Self.mostRefusals {
                // Some cameras lose a nonce: once more, not at once.
                state = .waiting(until: now &+ 2_000_000_000)
            } else if triesLoginAgain(at: now) {
                // Its users may not be there yet.
                state = .waiting(until: now &+ Self.bootLoginPause)
            } else {
                state = .refused(until: now &+ Self.refusalPause)
            }
        case .unready:
            if let pause = bootPause(at: now) {
                state = .waiting(until: now &+ pause)
            } else {
                state = .refused(until: now &+ Self.refusalPause)
            }
        case .person:
            state = .refused(until: now &+ Self.refusalPause)
        }
    }

    private mutating func noteBoot(_ ending: Ending, at now: UInt64) {
        if case .expected = boot, ending == .away {
            boot = .away
        } else if case .away = boot, ending != .away {
            boot = .begun(at: now, pauses: 0, hasTriedLogin: false)
            // It is there again: what it still lacks is asked for soon.
            failures = min(failures, 2)
        }
    }

    /// Nanoseconds until a camera that starts up is asked again; nil when that does not explain it.
    private mutating func bootPause(at now: UInt64) -> UInt64? {
        guard case .begun(let begin, let pauses, let hasTriedLogin) = boot, pauses < Self.bootPauses.count,
            now < begin &+ Self.bootTime
        else { return nil }
        boot = .begun(at: begin, pauses: pauses + 1, hasTriedLogin: hasTriedLogin)
        return Self.bootPauses[pauses]
    }

    private mutating func triesLoginAgain(at now: UInt64) -> Bool {
        guard case .begun(let begin, let pauses, false) = boot, now < begin &+ Self.bootTime else { return false }
        boot = .begun(at: begin, pauses: pauses, hasTriedLogin: true)
        return true
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

    private enum Pictures { case none, few, enough }

    private mutating func pause(after pictures: Pictures) -> UInt64 {
        var first = Self.firstPause
        var longest = Self.longestPause
        switch pictures {
        case .none: break
        case .few:
            longest = Self.longestPauseAfterPictures
            // The next outage begins with short pauses as well.
            failures = min(failures, 3)
        case .enough:
            first = Self.firstPauseAfterPictures
            failures = 0
        }
        let doublings = min(failures, 16)
        failures += 1
        let middle = min(first * Double(1 << doublings), longest / (1 + Self.jitter))
        let factor = 1 - Self.jitter + 2 * Self.jitter * min(max(random(), 0), 1)
        return UInt64(middle * factor)
    }
}
