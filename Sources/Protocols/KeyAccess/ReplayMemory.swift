/// Remembers the request tokens that were answered, until each expires, so that none is answered twice.
///
/// Bounded: when it is full of tokens that still live it refuses new ones rather than forget an old one. Nobody fills it
/// alone: whoever holds as many as are free gets no more, so that there is always room for others.
/// The one odd case: otdf-python signs RS256 (deterministic) without `jti`, so two requests in one second have the
/// same bytes. Such a token is let through again while its `iat` is less than two seconds old.
public struct ReplayMemory: Sendable {
    /// 32 bytes that stand for a token: SHA-256 of its bytes, or of its `jti` with whoever sent it.
    public struct Fingerprint: Hashable, Sendable {
        private let words: (UInt64, UInt64, UInt64, UInt64)

        /// - Parameter digest: 32 bytes; a shorter one is a fault of the caller.
        public init(digest: [UInt8]) {
            precondition(digest.count == 32)
            func word(_ start: Int) -> UInt64 {
                digest[start..<(start + 8)].reduce(0) { $0 << 8 | UInt64($1) }
            }
            words = (word(0), word(8), word(16), word(24))
        }

        public static func == (left: Fingerprint, right: Fingerprint) -> Bool { left.words == right.words }

        public func hash(into hasher: inout Hasher) {
            // The words are a digest: any of them alone spreads well, the hasher's seed keeps collisions unknowable.
            hasher.combine(words.0)
            hasher.combine(words.1)
        }
    }

    public enum Outcome: Equatable, Sendable {
        case fresh
        case replayed
        /// Who presents it has as many tokens here as it may have; the caller answers "rate limited".
        case shareUsed
        /// Full; the caller answers "unavailable".
        case full
    }

    public let capacity: Int
    private var known: Set<Fingerprint> = []
    private var byExpiry: [Int64: [(token: Fingerprint, holder: Int)]] = [:]
    /// Tokens of each holder, who is known by a seeded hash: two that share one share a share.
    private var held: [Int: Int] = [:]
    private var earliestExpiry = Int64.max

    public init(capacity: Int = 262_144) {
        self.capacity = capacity
    }

    public var count: Int { known.count }

    /// - Parameters:
    ///   - holder: who presents it: the subject of an access token.
    ///   - expiry: Unix seconds, the last second in which the token would be accepted.
    ///   - mayRepeatSince: the token's `iat` when it is RS256 without `jti`, else nil.
    public mutating func presented(
        _ token: Fingerprint, by holder: String, expiry: Int64, mayRepeatSince: Int64?, now: Int64
    ) -> Outcome {
        forgetExpired(now: now)
        if known.contains(token) {
            guard let issued = mayRepeatSince else { return .replayed }
            // A token from the future would repeat until its time has come.
            return (0..<2).contains(now.saturatingSubtract(issued)) ? .fresh : .replayed
        }
        let free = capacity - known.count
        guard free > 0 else { return .full }
        let holder = holder.hashValue
        guard held[holder, default: 0] < free else { return .shareUsed }
        known.insert(token)
        held[holder, default: 0] += 1
        byExpiry[expiry, default: []].append((token, holder))
        earliestExpiry = min(earliestExpiry, expiry)
        return .fresh
    }

    private mutating func forgetExpired(now: Int64) {
        guard earliestExpiry < now else { return }
        for expiry in byExpiry.keys.filter({ $0 < now }) {
            for (token, holder) in byExpiry.removeValue(forKey: expiry) ?? [] {
                known.remove(token)
                let left = held[holder, default: 1] - 1
                held[holder] = left > 0 ? left : nil
            }
        }
        earliestExpiry = byExpiry.keys.min() ?? .max
    }
}
