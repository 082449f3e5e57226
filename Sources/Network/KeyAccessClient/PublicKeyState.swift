/// A KAS's public key as it was last read, and what a later request says to ask whether it still holds.
struct KnownPublicKey: Codable, Equatable, Sendable {
    /// The KAS that gave it: a file of another KAS is not used.
    var url: String
    /// PEM, as it came.
    var publicKey: String
    var kid: String?
    var etag: String?
    /// Unix seconds.
    var fetchedAt: Int64
    /// The KAS said that headers may name its key. Absent in files of earlier versions.
    var readsIdentifiers: Bool?
    /// Of the server that it was read from; a key that was read without the pin that is set now is not used.
    var publicKeyPin: String?

    /// Seconds that a file may be behind: it is asked for each 300 s, and as often as that a camera would wear a card.
    private static let maxFileAge: Int64 = 3600

    /// Whether a file with this one has to be written again for the newest answer: it is another key, or the same an hour later.
    func isOutdated(by newest: KnownPublicKey) -> Bool {
        var same = newest
        same.fetchedAt = fetchedAt
        return same != self
            || !(0..<Self.maxFileAge).contains(newest.fetchedAt.subtractingReportingOverflow(fetchedAt).partialValue)
    }
}

/// Which public key is used, and when the KAS is asked again: pure, time is an argument.
///
/// While it is fresh nobody is asked; after that the KAS is asked first, and the last good key goes on when it does not answer.
/// An outage is not asked about at every rotation: attempts back off to one a minute.
struct PublicKeyState: Equatable, Sendable {
    /// In nanoseconds.
    struct Lifetimes: Equatable, Sendable {
        var freshFor: UInt64
        var goodFor: UInt64

        static let ofStreams = Self(freshFor: 300_000_000_000, goodFor: 86_400_000_000_000)
        /// What is not recorded is gone, and a KAS keeps the keys that it had: an old one is better than none.
        static let ofArchives = Self(freshFor: 3_600_000_000_000, goodFor: 3650 * 86_400_000_000_000)
    }

    let lifetimes: Lifetimes
    static let firstDelay: UInt64 = 2_000_000_000
    static let maxDelay: UInt64 = 60_000_000_000

    enum Decision: Equatable {
        /// Use the key that is there.
        case use(KnownPublicKey)
        /// Ask the KAS; with a fallback when a key is there for the case that it does not answer.
        case ask(etag: String?, fallback: KnownPublicKey?)
    }

    private var known: KnownPublicKey?
    /// Nanoseconds of the monotonic clock.
    private var freshUntil: UInt64 = 0
    private var goodUntil: UInt64 = 0
    private var askAgainAt: UInt64 = 0
    private var failures = 0

    init(_ lifetimes: Lifetimes = .ofStreams) {
        self.lifetimes = lifetimes
    }

    mutating func decide(at now: UInt64) -> Decision {
        if let known, now < freshUntil { return .use(known) }
        if now >= goodUntil { known = nil }
        if let known, now < askAgainAt { return .use(known) }
        return .ask(etag: known?.etag, fallback: known)
    }

    /// A key came, or the KAS said that the known one still holds.
    mutating func fetched(_ key: KnownPublicKey, at now: UInt64) {
        known = key
        freshUntil = now &+ lifetimes.freshFor
        goodUntil = now &+ lifetimes.goodFor
        askAgainAt = 0
        failures = 0
    }

    /// The KAS did not give one.
    mutating func failed(at now: UInt64) {
        askAgainAt = now &+ min(Self.firstDelay << UInt64(min(failures, 10)), Self.maxDelay)
        failures += 1
    }

    /// A key that an earlier process stored. The wall clock of a board without battery may stand anywhere: a key from
    /// the future is taken as just fetched, an old one for what is left of its day.
    mutating func restored(_ key: KnownPublicKey, wallClock: Int64, at now: UInt64) {
        let (difference, overflow) = wallClock.subtractingReportingOverflow(key.fetchedAt)
        let seconds = wallClock <= key.fetchedAt ? 0 : overflow ? UInt64.max : UInt64(difference)
        let age = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard known == nil, !age.overflow, age.partialValue < lifetimes.goodFor else { return }
        known = key
        goodUntil = now &+ (lifetimes.goodFor - age.partialValue)
        freshUntil = age.partialValue < lifetimes.freshFor ? now &+ (lifetimes.freshFor - age.partialValue) : 0
    }

    /// Forgets that the key is fresh: the KAS is asked at the next use.
    mutating func invalidate() {
        freshUntil = 0
        askAgainAt = 0
    }
}
