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
        /// Frames stopped though the connection is open.
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
    public enum WakeReason: Equatable, Sendable {
        /// The camera announced itself. Anyone on its network can forge that, so it never shortens what protects the
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

    /// A camera that was away and answers again starts up, which explains refusals for a while. It does so after each
    /// absence that is long enough for a power cut; but what protects accounts must not be worn down by a camera that
    /// comes and goes: the one login more must be earned, by frames for long enough.
    private struct Boot {
        /// Since when it has not answered; nil while it does.
        var awaySince: UInt64?
        /// It answered after it was away: what it refuses next begins its time.
        var isExpected = false
        /// Its first refusal since.
        var began: UInt64?
        /// No absence, however short, was taken for a start since it had frames for long enough.
        var isEarned = true
        var hasTriedLogin = false

        /// Whether a start still explains what is refused.
        func explains(at now: UInt64) -> Bool { began.map { now < $0 &+ PullSupervision.bootTime } ?? false }
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
    /// Of these, the ones that brought frames.
    public private(set) var connections: UInt64 = 0
    public private(set) var stalls: UInt64 = 0
    /// Grows with each attempt and each step of a wait that is meant: what a watchdog sees of a source that gets on.
    public private(set) var steps: UInt64 = 0

    /// Since the stream was last live for long enough.
    private var failures = 0
    private var refusals = 0
    private var liveSince: UInt64?
    private var frameAt: UInt64 = 0
    /// Sessions with few frames, one behind the other.
    private var shortSessions = 0
    private var boot = Boot()
    /// The next attempt, or the one that runs, is the one login more of a camera that starts up: it shows no second
    /// login, whatever the camera says of the first one.
    public private(set) var showsOneLogin = false
    private var wokenAt: UInt64?
    private var steppedAt: UInt64 = 0
    private let bootLoginPause: UInt64
    /// 0 ≤ value < 1.
    private let random: @Sendable () -> Double

    /// The middle of the first pause; with its jitter it stays below a second.
    static let firstPause = 0.8e9
    static let maxPause = 60e9
    /// The same after frames for long enough: with a second to the next key frame less than 1.5 s are lost.
    static let firstPauseAfterFrames = 0.28e9
    /// After a session that had frames, however few.
    static let maxPauseAfterFrames = 5e9
    /// After so many of them in a row it is not an accident, and each may leave a viewer in the camera for a minute.
    static let maxShortSessions = 10
    static let maxPauseOfShortSessions = 30e9
    static let jitter = 0.25
    /// Nanoseconds from the first frame to the last one after which earlier failures are forgotten.
    static let longEnough: UInt64 = 10_000_000_000
    /// Nanoseconds from its first refusal to the attempts at a camera that starts up; with the last one the time is
    /// over.
    static let bootAttempts: [UInt64] = [5, 15, 30, 60, 90].map { $0 * 1_000_000_000 }
    static let bootTime: UInt64 = 90_000_000_000
    /// Between two of them.
    static let minBootPause: UInt64 = 1_000_000_000
    /// Nanoseconds without an answer in which a camera may have lost its power.
    static let powerCut: UInt64 = 30_000_000_000
    /// Before the one login more that a camera gets which starts up; a minute.
    public static let bootLoginPause: UInt64 = 60_000_000_000
    static let refusalPause: UInt64 = 900_000_000_000
    static let maxRefusals = 2
    static let busyPause = 30
    static let maxBusyPause = 600
    /// Between two steps of one wait.
    static let step: UInt64 = 5_000_000_000
    /// Between two announcements that count.
    static let wakePause: UInt64 = 5_000_000_000

    /// - Parameters:
    ///   - bootLoginPause: nanoseconds before the one login more that a camera gets which starts up.
    ///   - random: evenly distributed in 0..<1.
    public init(
        bootLoginPause: UInt64 = PullSupervision.bootLoginPause,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.bootLoginPause = bootLoginPause
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

    /// A frame came that a viewer can begin with, or the first one after a stall.
    public mutating func frameArrived(at now: UInt64) {
        switch state {
        case .connecting:
            state = .live
            connections += 1
            liveSince = now
            frameAt = now
            refusals = 0
            showsOneLogin = false
            noteAnswer(at: now)
        case .stalled:
            state = .live
            liveSince = now
            frameAt = now
        case .live:
            frameAt = now
            if isGood {
                failures = 0
                shortSessions = 0
                boot = Boot()
            }
        case .waiting, .refused: break
        }
    }

    /// Frames came for long enough.
    private var isGood: Bool {
        liveSince.map { frameAt >= $0 &+ Self.longEnough } ?? false
    }

    /// Frames stopped; the attempt is about to be ended.
    public mutating func stalled(at now: UInt64) {
        guard state == .live || state == .connecting else { return }
        state = .stalled
        stalls += 1
    }

    public mutating func ended(_ ending: Ending, at now: UInt64) {
        let frames = liveSince == nil ? Frames.none : isGood ? .enough : .few
        liveSince = nil
        steppedAt = now
        switch ending {
        // The login was not answered.
        case .broken, .away, .stalled, .busy: break
        case .unready, .loginRefused, .person: showsOneLogin = false
        }
        noteBoot(ending, at: now)
        switch ending {
        case .broken, .stalled, .away:
            state = .waiting(until: now &+ pause(after: frames))
        case .busy(let seconds):
            // A camera that says 0 gets a second; one that says a year gets ten minutes.
            let pause = min(max(seconds ?? Self.busyPause, 1), Self.maxBusyPause)
            state = .waiting(until: now &+ UInt64(pause) &* 1_000_000_000)
        case .loginRefused:
            refusals += 1
            if refusals < Self.maxRefusals {
                // Some cameras lose a nonce: once more, not at once.
                state = .waiting(until: now &+ 2_000_000_000)
            } else if triesLoginAgain(at: now) {
                // Its users may not be there yet.
                showsOneLogin = true
                state = .waiting(until: now &+ bootLoginPause)
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
        guard ending != .away else {
            boot.awaySince = boot.awaySince ?? now
            return
        }
        let wasExpected = boot.isExpected
        noteAnswer(at: now)
        // It is there again: what it still lacks is asked for soon.
        if boot.isExpected, !wasExpected { failures = min(failures, 2) }
        // What only takes time, or breaks off, says nothing yet of what the camera refuses.
        guard boot.isExpected, ending == .unready || ending == .loginRefused else { return }
        boot.isExpected = false
        boot.began = now
    }

    /// It is there; perhaps again.
    private mutating func noteAnswer(at now: UInt64) {
        guard let since = boot.awaySince else { return }
        boot.awaySince = nil
        guard boot.isEarned || now >= since &+ Self.powerCut else { return }
        boot.isEarned = false
        boot.isExpected = true
    }

    /// Nanoseconds until a camera that starts up is asked again; nil when that does not explain it. By time alone:
    /// attempts that somebody else asked for use none up.
    private func bootPause(at now: UInt64) -> UInt64? {
        guard let began = boot.began, boot.explains(at: now),
            let next = Self.bootAttempts.first(where: { began &+ $0 > now })
        else { return nil }
        return max(began &+ next &- now, Self.minBootPause)
    }

    private mutating func triesLoginAgain(at now: UInt64) -> Bool {
        guard boot.explains(at: now), !boot.hasTriedLogin else { return false }
        boot.hasTriedLogin = true
        return true
    }

    /// The next attempt is to come now, as if it were the first. While one runs, nothing changes.
    ///
    /// - Returns: whether it will.
    @discardableResult
    public mutating func woken(by wake: WakeReason, at now: UInt64) -> Bool {
        switch (state, wake) {
        case (.waiting, .announcement):
            if let wokenAt, now < wokenAt &+ Self.wakePause { return false }
            // Only one pause is shortened; how long the next is stays as it was.
            guard refusals == 0 else { return false }
        case (.waiting, .person), (.refused, .person):
            failures = 0
            refusals = 0
            showsOneLogin = false
        default: return false
        }
        wokenAt = now
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

    private enum Frames { case none, few, enough }

    private mutating func pause(after frames: Frames) -> UInt64 {
        var first = Self.firstPause
        var longest = Self.maxPause
        switch frames {
        case .none: break
        case .few:
            shortSessions = min(shortSessions + 1, Self.maxShortSessions + 16)
            let more = max(shortSessions - Self.maxShortSessions, 0)
            longest = more > 0 ? Self.maxPauseOfShortSessions : Self.maxPauseAfterFrames
            // The next outage begins with short pauses as well.
            failures = min(failures, 3 + more)
        case .enough:
            first = Self.firstPauseAfterFrames
            failures = 0
        }
        let doublings = min(failures, 16)
        failures += 1
        let middle = min(first * Double(1 << doublings), longest / (1 + Self.jitter))
        let factor = 1 - Self.jitter + 2 * Self.jitter * min(max(random(), 0), 1)
        return UInt64(middle * factor)
    }
}
