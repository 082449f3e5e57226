internal import ControlAPI

/// What one hook has to report, and when: which event is sent next, what is given up, and what of that is counted.
///
/// Knows no clock and no network. Everything is bounded: events that wait, their age, requests in a minute, the pause
/// after a failure. What is not reported by itself is counted, and the next message that arrives says how many those were.
struct HookQueue: Equatable, Sendable {
    /// Events that wait. The newest are kept: what is the matter now is worth more than how it began.
    static let limit = 64
    /// Older events are not reported any more.
    static let maxAge = Duration.seconds(86_400)
    /// Requests in any minute. The last of them stands for everything that waits.
    static let requestsPerMinute = 30
    /// After the first failure; each one doubles it.
    static let firstPause = Duration.seconds(2)
    static let maxPause = Duration.seconds(300)
    private static let minute = Duration.seconds(60)

    enum Action: Equatable, Sendable {
        /// Send this, then report the result: `ended`.
        case send(HookMessage)
        /// Ask again then, or when something happened.
        case wait(until: Duration)
        /// Ask again when something happened.
        case rest
    }

    private struct Waiting: Equatable, Sendable {
        var event: EventDocument
        var expires: Duration
    }

    private enum State: Equatable, Sendable {
        case ready
        /// - Parameters:
        ///   - events: that the message stands for.
        ///   - reported: of `missed`, what it says of those before.
        case sending(events: [Waiting], reported: UInt64)
        case pausing(until: Duration)
    }

    private var state = State.ready
    private var waiting: [Waiting] = []
    /// When the requests of the last minute began.
    private var requests: [Duration] = []
    private var failuresInARow = 0
    private var seen: Int64?
    private var missed: UInt64
    private(set) var counts = HookCounts()

    /// - Parameter place: where it was when its process ended.
    init(place: HookPlace = HookPlace()) {
        seen = place.settled
        missed = place.missed
    }

    /// The newest event that was looked at; nil before the first.
    var position: Int64? { seen }

    /// Events that wait, with what is being sent.
    var length: Int {
        if case .sending(let events, _) = state { waiting.count + events.count } else { waiting.count }
    }

    /// The last requests came to nothing.
    var isFailing: Bool { failuresInARow > 0 }

    /// What is kept, so that a restart neither loses an event nor reports one twice.
    var place: HookPlace {
        var ids = waiting.map(\.event.id)
        if case .sending(let events, _) = state { ids += events.map(\.event.id) }
        let oldest = ids.filter { $0 > 0 }.min()
        return HookPlace(settled: oldest.map { $0 - 1 } ?? seen, missed: missed)
    }

    /// The newest event that there is: where a hook begins that has seen none, and one whose place is of a history that
    /// is gone.
    mutating func began(at newest: Int64) {
        guard newest > 0, seen.map({ $0 > newest }) ?? true else { return }
        seen = newest
    }

    /// An event that this hook reports; one that it has seen is ignored.
    ///
    /// - Parameters:
    ///   - age: how long ago it happened.
    ///   - now: any clock that does not go back.
    mutating func happened(_ event: EventDocument, age: Duration = .zero, at now: Duration) {
        guard isNew(event.id) else { return }
        waiting.append(Waiting(event: event, expires: now + Self.maxAge - age))
        makeRoom()
    }

    /// An event that this hook does not report.
    mutating func passed(_ id: Int64) {
        _ = isNew(id)
    }

    mutating func next(at now: Duration) -> Action {
        switch state {
        case .sending: return .rest
        case .pausing(let until) where now < until: return .wait(until: until)
        case .pausing, .ready: state = .ready
        }
        let count = waiting.count
        waiting.removeAll { $0.expires <= now }
        let expired = UInt64(count - waiting.count)
        counts.expired += expired
        missed += expired
        guard let newest = waiting.last else { return .rest }
        requests.removeAll { now - $0 >= Self.minute }
        guard requests.count < Self.requestsPerMinute else { return .wait(until: requests[0] + Self.minute) }
        let isLast = requests.count == Self.requestsPerMinute - 1
        requests.append(now)
        let events = isLast ? waiting : [waiting[0]]
        waiting.removeFirst(events.count)
        state = .sending(events: events, reported: missed)
        return .send(
            HookMessage(event: isLast ? newest.event : events[0].event, missed: missed + UInt64(events.count - 1)))
    }

    /// The result of the message.
    mutating func ended(_ outcome: HookOutcome, at now: Duration) {
        guard case .sending(let events, let reported) = state else { return }
        state = .ready
        switch outcome {
        case .delivered:
            failuresInARow = 0
            counts.delivered += 1
            counts.joined += UInt64(events.count - 1)
            missed -= reported
        case .refused:
            failuresInARow = 0
            counts.refused += UInt64(events.count)
            missed += UInt64(events.count)
        case .failed:
            counts.failures += 1
            let pause = min(Self.firstPause * (1 << min(failuresInARow, 10)), Self.maxPause)
            failuresInARow += 1
            waiting = events + waiting
            makeRoom()
            state = .pausing(until: now + pause)
        }
    }

    /// It is known that the receiver answers: no more waiting for it.
    mutating func reached() {
        failuresInARow = 0
        if case .pausing = state { state = .ready }
    }

    private mutating func isNew(_ id: Int64) -> Bool {
        guard id > 0 else { return true }
        if let seen, id <= seen { return false }
        seen = id
        return true
    }

    private mutating func makeRoom() {
        let surplus = waiting.count - Self.limit
        guard surplus > 0 else { return }
        waiting.removeFirst(surplus)
        counts.overflowed += UInt64(surplus)
        missed += UInt64(surplus)
    }
}
