/// The collections that a live reader has keys for, newest first: three at most.
///
/// The *current* collection is the newest that opened an item. The one before it stays for an overlap, as audio and
/// video may be interleaved around a rotation; everything older goes at once.
struct KeyRing: ~Copyable {
    static let capacity = 3
    /// Opens that one item may cost in all: each key of the ring under each nonce rule.
    static let opensPerItem = capacity * NonceRule.allCases.count

    struct Collection {
        let hash: [UInt8]
        /// Order in which the headers came.
        let sequence: UInt64
        let tagByteCount: Int
        let context: any ItemOpeningContext
        /// Known and never probed again once an item authenticated.
        var rule: NonceRule?
        var window = ReplayWindow(expectsFirst: false)
        /// When a newer collection opened its first item.
        var supersededAt: UInt64?
    }

    enum Attempt {
        case opened(plaintext: [UInt8], hash: [UInt8], sequence: UInt64, arrival: ReplayWindow.Arrival)
        /// No key of the ring opens it.
        case failed
    }

    private var collections: [Collection] = []
    private let overlap: UInt64
    private var hasOpenedAny = false
    /// Opens tried so far, successful or not.
    private(set) var opens: UInt64 = 0

    init(overlap: UInt64) {
        self.overlap = overlap
    }

    var isEmpty: Bool { collections.isEmpty }

    func contains(_ hash: [UInt8]) -> Bool { collections.contains { $0.hash == hash } }

    /// When the next old key is due to be wiped.
    var nextDeadline: UInt64? {
        collections.compactMap { $0.supersededAt.map { $0.saturatingAdd(overlap) } }.min()
    }

    /// - Returns: hashes of collections that had to go.
    mutating func insert(_ collection: Collection) -> [[UInt8]] {
        let index = collections.firstIndex { $0.sequence < collection.sequence } ?? collections.endIndex
        collections.insert(collection, at: index)
        guard collections.count > Self.capacity else { return [] }
        return [collections.removeLast().hash]
    }

    /// The relay plays again from what it keeps.
    mutating func resumed() {
        for index in collections.indices { collections[index].window.resumed() }
    }

    /// Wipes old keys whose overlap is over.
    /// - Returns: their hashes.
    mutating func wipeExpired(at now: UInt64) -> [[UInt8]] {
        let overlap = overlap
        return remove { collection in
            collection.supersededAt.map { now >= $0.saturatingAdd(overlap) } ?? false
        }
    }

    /// Tries the keys on one item, the current one first.
    /// - Parameters:
    ///   - only: limits the attempt to one collection.
    ///   - budget: opens that the item may still cost.
    mutating func attempt(
        _ item: ItemEnvelope, _ medium: ItemMedium, only hash: [UInt8]? = nil, budget: inout Int, at now: UInt64,
        wiped: inout [[UInt8]]
    ) -> Attempt {
        for index in candidates() where hash == nil || collections[index].hash == hash {
            let collection = collections[index]
            guard let parts = try? item.split(tagByteCount: collection.tagByteCount) else { continue }
            let rules = collection.rule.map { [$0] } ?? NonceRule.allCases
            for rule in rules where budget > 0 {
                budget -= 1
                opens += 1
                let result = try? collection.context.open(
                    ciphertext: parts.ciphertext, tag: parts.tag, nonce: rule.nonce(item.counter))
                guard let plaintext = result ?? nil else { continue }
                if collection.rule == nil { lock(index, rule, at: now) }
                let arrival = collections[index].window.arrived(item.counter, medium)
                if collection.rule == nil { wiped += dropOlderThanPrevious() }
                return .opened(
                    plaintext: plaintext, hash: collection.hash, sequence: collection.sequence, arrival: arrival)
            }
        }
        return .failed
    }

    /// Current collection, then newer ones that opened nothing yet, then older ones.
    private func candidates() -> [Int] {
        guard let current = collections.firstIndex(where: { $0.rule != nil }) else { return Array(collections.indices) }
        return [current] + Array(0..<current) + Array((current + 1)..<collections.count)
    }

    private mutating func lock(_ index: Int, _ rule: NonceRule, at now: UInt64) {
        let isCurrent = !collections[..<index].contains { $0.rule != nil }
        collections[index].rule = rule
        collections[index].window = ReplayWindow(expectsFirst: hasOpenedAny)
        hasOpenedAny = true
        if !isCurrent { collections[index].supersededAt = now }
        for older in (index + 1)..<collections.count where collections[older].supersededAt == nil {
            collections[older].supersededAt = now
        }
    }

    /// Of the superseded collections that were in use, only the newest is kept.
    private mutating func dropOlderThanPrevious() -> [[UInt8]] {
        let used = collections.filter { $0.rule != nil }.map(\.sequence).sorted(by: >)
        guard used.count > 2 else { return [] }
        return remove { $0.rule != nil && $0.sequence < used[1] }
    }

    private mutating func remove(_ isOver: (Collection) -> Bool) -> [[UInt8]] {
        let hashes = collections.filter(isOver).map(\.hash)
        if !hashes.isEmpty { collections.removeAll(where: isOver) }
        return hashes
    }
}

extension UInt64 {
    func saturatingAdd(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
