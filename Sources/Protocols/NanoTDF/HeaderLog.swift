/// The headers that a live reader was given: which are new, which wait for their key, which are over.
struct HeaderLog {
    /// Headers that may wait for a key at a time. Of too many the youngest that was refused gives way, else the youngest:
    /// a relay that makes headers up does not push the genuine one out with them.
    static let waitingLimit = 8

    struct Waiting {
        let hash: [UInt8]
        let sequence: UInt64
        let tagByteCount: Int
        var isRefused = false
    }

    private(set) var waiting: [Waiting] = []
    private var retired = RetiredHeaders()
    private var admissions: [UInt64] = []
    private var nextSequence: UInt64 = 0
    private let perSecond: Int

    init(perSecond: Int) {
        self.perSecond = perSecond
    }

    func isKnown(_ hash: [UInt8]) -> Bool {
        waiting.contains { $0.hash == hash } || retired.contains(hash)
    }

    /// Whether a key is awaited for a header that came before `sequence`; for any header without it.
    func awaitsKey(before sequence: UInt64 = .max) -> Bool {
        waiting.contains { $0.sequence < sequence }
    }

    /// Whether one more new header is within the rate; counts it if so.
    mutating func admits(at now: UInt64) -> Bool {
        admissions.removeAll { now >= $0.saturatingAdd(1_000_000_000) }
        guard admissions.count < perSecond else { return false }
        admissions.append(now)
        return true
    }

    mutating func announced(_ hash: [UInt8], tagByteCount: Int) {
        if waiting.count == Self.waitingLimit {
            waiting.remove(at: waiting.lastIndex { $0.isRefused } ?? waiting.index(before: waiting.endIndex))
        }
        waiting.append(Waiting(hash: hash, sequence: nextSequence, tagByteCount: tagByteCount))
        nextSequence += 1
    }

    /// Takes the header off the list of those that wait; nil if it isn't on it.
    mutating func settled(_ hash: [UInt8]) -> Waiting? {
        guard let index = waiting.firstIndex(where: { $0.hash == hash }) else { return nil }
        return waiting.remove(at: index)
    }

    mutating func refused(_ hash: [UInt8]) {
        guard let index = waiting.firstIndex(where: { $0.hash == hash }) else { return }
        waiting[index].isRefused = true
    }

    mutating func retire(_ hashes: [[UInt8]]) {
        for hash in hashes { retired.insert(hash) }
    }
}
