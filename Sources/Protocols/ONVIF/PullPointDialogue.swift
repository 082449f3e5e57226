/// What is asked next so that a device's events keep coming: a machine without I/O, one for each subscription's reader
/// (docs/ref/camera-notes.md, "Events").
///
/// - A connection that ends while the device waits for something to report ends no subscription: it is pulled again. Only
///   after four such ends in a row a new one is made.
/// - A subscription that the device does not know (any more) is replaced, after 1 s, 2 s, 4 s and so on up to a minute;
///   half a minute of pulling without trouble begins that again. One whose renewal is refused is replaced at once.
/// - What was not let in, or is no longer there after a subscription existed or a connection failed, is tried again after
///   a minute, two, four and so on up to a quarter of an hour. Only a device that says at the very first that it has no
///   events is left in peace.
/// - A subscription that is given up and may still exist in the device is ended before another one is made.
/// - A device that does not understand a lifetime in seconds is given the end in its own time.
/// - A device that answers without waiting is asked once a second at most, or ten times while it has something to report.
public struct PullPointDialogue: Equatable, Sendable {
    public enum TerminationStyle: Equatable, Sendable {
        /// `PT60S`
        case relative
        /// The device's own time.
        case absolute
    }

    public enum Action: Equatable, Sendable {
        case create(TerminationStyle)
        /// - Parameter seconds: how long the device may wait.
        case pull(EndpointReference, seconds: Int)
        case renew(EndpointReference, TerminationStyle)
        /// Of one that is given up. Once: whatever becomes of it, `unsubscribed` follows.
        case unsubscribe(EndpointReference)
        /// The device has no events.
        case finish
    }

    public struct Step: Equatable, Sendable {
        public var action: Action
        /// When: the present or later.
        public var time: UInt64

        public init(action: Action, time: UInt64) {
            self.action = action
            self.time = time
        }
    }

    /// Why a request brought nothing.
    public enum Failure: Equatable, Sendable {
        /// No answer.
        case connection
        case notSupported
        case login
        /// The device does not know this subscription (any more).
        case forgotten
        /// Any other fault.
        case refused
    }

    private struct Subscription: Equatable {
        var reference: EndpointReference
        var granted: UInt64
        var end: UInt64
        var since: UInt64

        /// At four fifths, and in time for an end that was rounded to whole seconds.
        var renewal: UInt64 { end - min(max(granted / 5, second * 3 / 2), granted / 2, end) }
    }

    /// What a subscription is asked to last, in seconds.
    public static let lifetimeSeconds = 60
    /// A minute, in nanoseconds.
    public static let refusalPause = 60 * second
    private static let maxPullTime: UInt64 = 15

    private var style = TerminationStyle.relative
    private var styleIsKnown = false
    private var subscription: Subscription?
    private var createNotBefore: UInt64 = 0
    private var pullNotBefore: UInt64 = 0
    private var renewNotBefore: UInt64 = 0
    private var backOff: UInt64 = 0
    private var absences: UInt64 = 0
    /// There was a subscription, or no answer: a refusal after that may pass.
    private var isHopeful = false
    private var abandoned: EndpointReference?
    private var lostPulls: UInt64 = 0
    private var isFinished = false

    /// Nanoseconds until what was refused is asked for again; doubled each time, up to a quarter of an hour.
    private let refusalPause: UInt64

    /// - Parameter refusalPause: nanoseconds until what the device refused is asked for once more.
    public init(refusalPause: UInt64 = PullPointDialogue.refusalPause) {
        self.refusalPause = refusalPause
    }

    /// The current subscription: to be ended when there is no reader any more.
    public var reference: EndpointReference? { subscription?.reference ?? abandoned }

    public func next(at now: UInt64) -> Step {
        if isFinished { return Step(action: .finish, time: now) }
        guard let subscription else {
            let action = abandoned.map { Action.unsubscribe($0) } ?? .create(style)
            return Step(action: action, time: max(now, createNotBefore))
        }
        let renewal = max(subscription.renewal, renewNotBefore)
        let pull = max(now, pullNotBefore)
        guard pull < renewal else {
            return Step(action: .renew(subscription.reference, style), time: max(now, renewal))
        }
        let seconds = min(Self.maxPullTime, max(1, (renewal - pull) / second))
        return Step(action: .pull(subscription.reference, seconds: Int(seconds)), time: pull)
    }

    public mutating func created(_ created: EventMessages.Subscription, at now: UInt64) {
        let granted = Self.nanoseconds(created.lifetime) ?? UInt64(Self.lifetimeSeconds) * second
        subscription = Subscription(reference: created.reference, granted: granted, end: now + granted, since: now)
        styleIsKnown = true
        isHopeful = true
        abandoned = nil
        lostPulls = 0
        pullNotBefore = now
        renewNotBefore = 0
    }

    public mutating func createFailed(_ failure: Failure, at now: UInt64) {
        switch failure {
        case .notSupported, .login: muchLater(failure, at: now)
        case .connection:
            isHopeful = true
            again(at: now)
        case .refused, .forgotten:
            if styleIsKnown {
                again(at: now)
            } else {
                // Each of both once, then both again later.
                style = style == .relative ? .absolute : .relative
                if style == .relative { again(at: now) }
            }
        }
    }

    /// - Parameters:
    ///   - lifetime: milliseconds that the subscription still has, when the answer says so.
    ///   - begin: when the request was sent.
    public mutating func pulled(messages: Int, lifetime: Int64?, from begin: UInt64, at now: UInt64) {
        lostPulls = 0
        pullNotBefore = begin + (messages > 0 ? second / 10 : second)
        guard var current = subscription else { return }
        if let lifetime {
            // Some devices prolong a subscription with each pull, and others grant less than they said. Their times are
            // whole seconds: what lies within one of ours is nothing new, or the end would never come nearer.
            let end = now + UInt64(min(max(lifetime, 0), 86_400_000)) * 1_000_000
            if end < current.end || end > current.end + second * 3 / 2 { current.end = end }
        }
        if now >= current.since + 30 * second {
            backOff = 0
            absences = 0
        }
        subscription = current
    }

    public mutating func pullFailed(_ failure: Failure, from begin: UInt64, at now: UInt64) {
        switch failure {
        case .notSupported, .login:
            giveUp()
            muchLater(failure, at: now)
        case .forgotten:
            subscription = nil
            lostPulls = 0
            again(at: now)
        case .refused: replace(at: now)
        case .connection:
            lostPulls += 1
            pullNotBefore = lostPulls == 1 ? begin + second : now + second << min(lostPulls - 1, 5)
            if lostPulls >= 4 { replace(at: now) }
        }
    }

    public mutating func renewed(lifetime: Int64?, at now: UInt64) {
        guard var current = subscription else { return }
        current.end = now + (Self.nanoseconds(lifetime) ?? current.granted)
        subscription = current
        // A device that grants next to nothing is not asked all the time.
        renewNotBefore = now + second
    }

    public mutating func renewFailed(_ failure: Failure, at now: UInt64) {
        guard let current = subscription else { return }
        if failure == .connection, now + second < current.end {
            renewNotBefore = now + second
            return
        }
        giveUp(isKnown: failure != .forgotten)
        // It stood as long as it was granted; no longer than that can be had.
        createNotBefore = max(now, current.since + second)
    }

    /// The device was informed, or could not be.
    public mutating func unsubscribed() { abandoned = nil }

    private mutating func giveUp(isKnown: Bool = true) {
        if isKnown, let subscription { abandoned = subscription.reference }
        subscription = nil
        lostPulls = 0
    }

    private mutating func replace(at now: UInt64) {
        giveUp()
        again(at: now)
    }

    private mutating func muchLater(_ failure: Failure, at now: UInt64) {
        guard isHopeful || failure == .login else {
            isFinished = true
            return
        }
        createNotBefore = now + min(refusalPause << absences, 900 * second)
        absences = min(absences + 1, 4)
    }

    private mutating func again(at now: UInt64) {
        createNotBefore = now + min(second << backOff, 60 * second)
        backOff = min(backOff + 1, 6)
    }

    /// Between two seconds and a day.
    private static func nanoseconds(_ milliseconds: Int64?) -> UInt64? {
        milliseconds.map { UInt64(min(max($0, 2000), 86_400_000)) * 1_000_000 }
    }
}

private let second: UInt64 = 1_000_000_000

/// Keeps at most so many in each second; the rest is counted. What a camera finds in its pictures may be many a second: motion, tampering
/// and inputs, for which others act, have as much again of their own, and so have their ends, which no repetition of what goes on pushes out.
public struct EventBudget: Equatable, Sendable {
    private struct Second: Equatable {
        var begin: UInt64 = 0
        var taken = 0
    }

    private let limit: Int
    private var known = Second()
    private var ends = Second()
    private var others = Second()
    /// Left out so far.
    public private(set) var dropped: UInt64 = 0

    public init(perSecond limit: Int) {
        self.limit = limit
    }

    /// Whether this one may pass.
    public mutating func take(_ event: EventNotification, at now: UInt64) -> Bool {
        let isTaken =
            !event.isOfKnownKind
            ? take(&others, at: now) : event.isActive == false ? take(&ends, at: now) : take(&known, at: now)
        if !isTaken { dropped += 1 }
        return isTaken
    }

    private func take(_ current: inout Second, at now: UInt64) -> Bool {
        if current.taken == 0 || now >= current.begin + second { current = Second(begin: now) }
        guard current.taken < limit else { return false }
        current.taken += 1
        return true
    }
}
