import TestSupport
import Testing

@testable import KeyAccess

private func token(_ number: Int) -> ReplayMemory.Fingerprint {
    var digest = [UInt8](repeating: 0, count: 32)
    for index in 0..<8 { digest[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return ReplayMemory.Fingerprint(digest: digest)
}

@Suite struct MemoryTests {
    @Test func `a token is answered once until it expires`() {
        var memory = ReplayMemory()
        #expect(memory.presented(token(1), by: "a", expiry: 100, mayRepeatSince: nil, now: 40) == .fresh)
        #expect(memory.presented(token(1), by: "a", expiry: 100, mayRepeatSince: nil, now: 40) == .replayed)
        #expect(memory.presented(token(2), by: "a", expiry: 100, mayRepeatSince: nil, now: 40) == .fresh)
        #expect(memory.presented(token(1), by: "a", expiry: 100, mayRepeatSince: nil, now: 100) == .replayed)
        #expect(memory.count == 2)
        #expect(memory.presented(token(3), by: "a", expiry: 200, mayRepeatSince: nil, now: 101) == .fresh)
        #expect(memory.count == 1)
    }

    @Test(
        arguments: [(40, ReplayMemory.Outcome.fresh), (41, .fresh), (42, .replayed), (99, .replayed)]
            as [(Int64, ReplayMemory.Outcome)])
    func `an RS256 token without jti repeats for less than two seconds`(now: Int64, outcome: ReplayMemory.Outcome) {
        var memory = ReplayMemory()
        #expect(memory.presented(token(1), by: "a", expiry: 100, mayRepeatSince: 40, now: 40) == .fresh)
        #expect(memory.presented(token(1), by: "a", expiry: 100, mayRepeatSince: 40, now: now) == outcome)
    }

    @Test func `an RS256 token from the future does not repeat until its time has come`() {
        var memory = ReplayMemory()
        #expect(memory.presented(token(1), by: "a", expiry: 200, mayRepeatSince: 100, now: 40) == .fresh)
        for now in [Int64(40), 41, 99] {
            #expect(memory.presented(token(1), by: "a", expiry: 200, mayRepeatSince: 100, now: now) == .replayed)
        }
    }

    @Test func `however many fill the memory, there is room for another`() {
        var memory = ReplayMemory(capacity: 1200)
        func fill(_ holder: String, from start: Int) -> Int {
            (0..<1200).count {
                memory.presented(token(start + $0), by: holder, expiry: 100, mayRepeatSince: nil, now: 0) == .fresh
            }
        }
        #expect(fill("greedy", from: 0) == 600)
        #expect(memory.presented(token(5000), by: "greedy", expiry: 100, mayRepeatSince: nil, now: 0) == .shareUsed)
        #expect(fill("as greedy", from: 10_000) == 300)
        #expect(memory.presented(token(20_000), by: "modest", expiry: 100, mayRepeatSince: nil, now: 0) == .fresh)
        // What has expired counts no more.
        #expect(memory.presented(token(5000), by: "greedy", expiry: 300, mayRepeatSince: nil, now: 101) == .fresh)
    }

    @Test func `a full memory refuses rather than forgets`() {
        var memory = ReplayMemory(capacity: 3)
        for number in 0..<3 {
            #expect(
                memory.presented(
                    token(number), by: "\(number)", expiry: 100 + Int64(number), mayRepeatSince: nil, now: 0) == .fresh)
        }
        #expect(memory.presented(token(9), by: "a", expiry: 100, mayRepeatSince: nil, now: 0) == .full)
        #expect(memory.presented(token(0), by: "a", expiry: 100, mayRepeatSince: nil, now: 0) == .replayed)
        #expect(memory.presented(token(9), by: "a", expiry: 300, mayRepeatSince: nil, now: 101) == .fresh)
        #expect(memory.count == 3)
    }

    @Test(arguments: UInt64(0)..<8)
    func `the memory agrees with a plain set`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var memory = ReplayMemory()
        var expiries: [Int: Int64] = [:]
        var now: Int64 = 0
        for _ in 0..<2000 {
            now += Int64.random(in: 0...2, using: &generator)
            let number = Int.random(in: 0..<200, using: &generator)
            let expiry = now + Int64.random(in: 0...60, using: &generator)
            let isKnown = expiries[number].map { $0 >= now } ?? false
            let outcome = memory.presented(token(number), by: "a", expiry: expiry, mayRepeatSince: nil, now: now)
            #expect(outcome == (isKnown ? .replayed : .fresh))
            if !isKnown { expiries[number] = expiry }
        }
        #expect(memory.count <= 200)
    }

    @Test func `a bucket holds a burst and refills at its rate`() {
        var limiter = RateLimiter(rate: 2, burst: 3)
        let start: UInt64 = 5_000_000_000
        func take(_ key: String, at now: UInt64) -> [Bool] { (0..<4).map { _ in limiter.allows(key, at: now) } }
        #expect(take("a", at: start) == [true, true, true, false])
        #expect(take("b", at: start) == [true, true, true, false])
        #expect(take("a", at: start + 499_000_000) == [false, false, false, false])
        #expect(take("a", at: start + 501_000_000) == [true, false, false, false])
        #expect(take("a", at: start + 100_000_000_000) == [true, true, true, false])
        #expect(take("a", at: 0) == [false, false, false, false], "a clock that goes back gives nothing away")
    }

    @Test func `the table of buckets is bounded and a flood spares who is known`() {
        var limiter = RateLimiter(rate: 1, burst: 10, capacity: 16)
        func allowed(_ keys: [String], at now: UInt64) -> Int { keys.count { limiter.allows($0, at: now) } }
        #expect(allowed((0..<16).map { "known \($0)" }, at: 0) == 16)
        #expect(allowed((0..<1000).map { "flood \($0)" }, at: 0) == 10)
        #expect(limiter.count == 16)
        #expect(allowed(["known 3"], at: 0) == 1)
        #expect(allowed(["late"], at: 60_000_000_000) == 1)
        #expect(limiter.count == 1)
    }

    // MARK: registry

    static func hash(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    static func entry(
        _ number: Int, stream: String = "front", notAfter: Int64 = 100, publisher: String = "p"
    ) -> CollectionRegistry.Entry {
        CollectionRegistry.Entry(
            headerSha256: hash(number), stream: stream, notAfter: notAfter, publisher: publisher, kid: "e1",
            registeredAt: 0)
    }

    @Test func `a registration is known until it ends`() throws {
        var registry = CollectionRegistry()
        try registry.register(Self.entry(1, publisher: "box"), now: 50)
        #expect(registry.entry(forHeader: Self.hash(1), now: 100)?.stream == "front")
        #expect(registry.entry(forHeader: Self.hash(1), now: 101) == nil)
        #expect(registry.entry(forHeader: Self.hash(2), now: 50) == nil)
    }

    @Test func `only its publisher can renew a registration, for the same stream`() throws {
        var registry = CollectionRegistry()
        try registry.register(Self.entry(1, publisher: "box"), now: 50)
        try registry.register(Self.entry(1, notAfter: 200, publisher: "box"), now: 60)
        #expect(registry.entry(forHeader: Self.hash(1), now: 200) != nil)
        #expect(registry.count == 1)
        #expect(throws: CollectionRegistry.Fault.takenByAnother) {
            try registry.register(Self.entry(1, publisher: "thief"), now: 60)
        }
        #expect(throws: CollectionRegistry.Fault.takenByAnother) {
            try registry.register(Self.entry(1, stream: "back", publisher: "box"), now: 60)
        }
        try registry.register(Self.entry(1, stream: "back", notAfter: 300, publisher: "other"), now: 201)
        #expect(registry.entry(forHeader: Self.hash(1), now: 201)?.stream == "back")
    }

    @Test func `what can't be registered is refused`() {
        var registry = CollectionRegistry()
        for text in ["", "abc", Self.hash(1).dropLast() + "G", Self.hash(0xA).uppercased(), Self.hash(1) + "0"].map({
            String($0)
        }) {
            #expect(throws: CollectionRegistry.Fault.invalidHash) {
                try registry.register(
                    CollectionRegistry.Entry(
                        headerSha256: text, stream: "s", notAfter: 9, publisher: "p", kid: "e1", registeredAt: 0),
                    now: 0)
            }
        }
        #expect(throws: CollectionRegistry.Fault.invalidStream) {
            try registry.register(Self.entry(1, stream: "a*"), now: 0)
        }
        #expect(throws: CollectionRegistry.Fault.expired) {
            try registry.register(Self.entry(1, notAfter: 7), now: 7)
        }
        #expect(registry.count == 0)
    }

    @Test func `a lifetime is cut to the longest`() throws {
        var registry = CollectionRegistry(maximumLifetime: 50)
        let entry = try registry.register(Self.entry(1, notAfter: .max), now: 10)
        #expect(entry.notAfter == 60)
    }

    @Test func `a stream over its share loses its own oldest header`() throws {
        var registry = CollectionRegistry(capacity: 6, capacityPerStream: 4)
        try registry.register(Self.entry(100, stream: "other"), now: 0)
        for number in 0..<6 { try registry.register(Self.entry(number), now: 0) }
        #expect(
            (0..<6).map { registry.entry(forHeader: Self.hash($0), now: 0) != nil } == [
                false, false, true, true, true, true,
            ])
        #expect(registry.entry(forHeader: Self.hash(100), now: 0) != nil)
        try registry.register(Self.entry(101, stream: "other"), now: 0)
        // A new stream gets what another holds beyond its share, and no more.
        try registry.register(Self.entry(102, stream: "third"), now: 0)
        try registry.register(Self.entry(103, stream: "fourth"), now: 0)
        #expect(
            (2..<6).map { registry.entry(forHeader: Self.hash($0), now: 0) != nil } == [false, false, true, true])
        #expect(throws: CollectionRegistry.Fault.full) {
            try registry.register(Self.entry(104, stream: "fifth"), now: 0)
        }
        try registry.register(Self.entry(105, stream: "third", notAfter: 300), now: 101)
        #expect(registry.count == 1)
        #expect(registry.snapshot(now: 101).map(\.stream) == ["third"])
    }

    /// A stream at its share gives up its oldest entry each time, which must not cost a look at all others.
    @Test func `a hundred thousand registrations of one stream leave its newest`() throws {
        var registry = CollectionRegistry()
        for number in 0..<100_000 { try registry.register(Self.entry(number), now: 0) }
        #expect(registry.count == registry.capacityPerStream)
        #expect(registry.entry(forHeader: Self.hash(99_999), now: 0) != nil)
        #expect(registry.entry(forHeader: Self.hash(99_999 - registry.capacityPerStream), now: 0) == nil)
        // A renewal that shortens counts for the end, too.
        try registry.register(Self.entry(99_999, notAfter: 50), now: 0)
        registry.purge(now: 51)
        #expect(registry.count == registry.capacityPerStream - 1)
    }

    @Test func `a registration knows how many came after it, also when older ones are gone`() throws {
        var registry = CollectionRegistry(capacity: 6, capacityPerStream: 3)
        let first = try registry.register(Self.entry(0), now: 0)
        #expect(registry.newerRegistrations(than: first) == 0)
        for number in 1..<5 { try registry.register(Self.entry(number), now: 0) }
        try registry.register(Self.entry(9, stream: "back"), now: 0)
        #expect(registry.newerRegistrations(than: first) == 4)
        // A renewal is not a new registration.
        let renewed = try registry.register(Self.entry(3, notAfter: 200), now: 1)
        #expect(registry.newerRegistrations(than: renewed) == 1 && renewed.sequence == 4)
        // From a file, in its order.
        var copy = CollectionRegistry()
        for entry in registry.snapshot(now: 1) { try copy.register(entry, now: 1) }
        #expect(copy.newerRegistrations(than: renewed) == 1)
    }
}
