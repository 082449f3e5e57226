/// How often and how fast one header's key is asked for. A pure decision; time is in nanoseconds.
struct KeyRequest: Equatable {
    /// A refusal is believed after so long: a publisher registers its headers within less, also behind an outage.
    static let timeout: UInt64 = 30_000_000_000
    /// Between tries; a viewer that waits has its key within half a second of the KAS's return, and more for its
    /// answer.
    static let maxPause: UInt64 = 500_000_000
    /// Between tries of a viewer that has played and is refused for good, as it seems.
    static let believedPause: UInt64 = 2_000_000_000

    private var attempts = 0
    /// The header came, or the KAS was away: refusals may be the publisher's who has not registered it yet.
    private var doubtedSince: UInt64
    private(set) var isRefused = false
    let began: UInt64

    init(at now: UInt64) {
        began = now
        doubtedSince = now
    }

    /// - Parameters:
    ///   - hasPlayed: a viewer that has played is entitled, as far as it knows; it waits for as long as it takes.
    ///   - random: any number; spreads those who ask at the same moment.
    /// - Returns: nanoseconds until the next try; nil when there is none.
    mutating func refused(
        _ kind: KeyRefusal.Kind, hasPlayed: Bool, at now: UInt64, random: UInt64
    ) -> UInt64? {
        attempts += 1
        isRefused = kind == .denied
        if kind == .unavailable { doubtedSince = now }
        var pause = min(125_000_000 << UInt64(min(attempts, 4)), Self.maxPause)
        if kind == .denied, now >= doubtedSince &+ Self.timeout {
            guard hasPlayed else { return nil }
            pause = Self.believedPause
        }
        // Half of it is up to chance.
        return pause / 2 + random % (pause / 2 + 1)
    }

    /// Of requests in the order in which they began, the one that gives way to another: the youngest that was refused;
    /// else one whose frames are long over; else the youngest. A relay that makes headers up does not end the genuine
    /// one's.
    static func dispensable(of requests: [KeyRequest], at now: UInt64) -> Int? {
        requests.lastIndex { $0.isRefused } ?? requests.firstIndex { now >= $0.began &+ timeout }
            ?? requests.indices.last
    }
}
