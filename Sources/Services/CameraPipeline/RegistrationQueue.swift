internal import NanoTDF

/// Headers that the KAS has not confirmed yet, and which of them is asked for next. No I/O.
///
/// What viewers need now comes first: the header in use, then the newest. So an outage of the KAS, however long, is over
/// for a viewer with the first registration after it; and a header that the KAS refuses holds up no other.
struct RegistrationQueue {
    /// More than this many are forgotten, oldest first: their collections are long over.
    static let limit = 256

    private var waiting: [CollectionClaim] = []
    private var inUse: [UInt8]?
    /// Refused, and asked for again from an instant on: the KAS may have been given another grant, or another key.
    private var refused: [[UInt8]: UInt64] = [:]
    /// Nanoseconds between two tries of a header that was refused.
    static let secondThoughts: UInt64 = 15_000_000_000

    var count: Int { waiting.count }

    /// Viewers wait for one of these.
    var isUrgent: Bool { waiting.contains { $0.headerHash == inUse && refused[$0.headerHash] == nil } }

    /// Whom to ask for; nil when nothing is due.
    /// - Parameter now: nanoseconds.
    func next(at now: UInt64) -> CollectionClaim? {
        let due = waiting.filter { now >= refused[$0.headerHash] ?? 0 }
        return due.first { $0.headerHash == inUse } ?? due.last
    }

    /// A collection was made; it is not in use yet.
    mutating func made(_ claim: CollectionClaim) {
        waiting.append(claim)
        guard waiting.count > Self.limit else { return }
        let oldest = waiting.firstIndex { $0.headerHash != inUse }
        refused[waiting.remove(at: oldest ?? 0).headerHash] = nil
    }

    /// The stream goes on under this collection.
    mutating func taken(_ hash: [UInt8]) {
        if let inUse, inUse != hash, refused[inUse] != nil { settled(inUse) }
        inUse = hash
    }

    /// The KAS will not have it, for now. It holds up no other.
    mutating func refused(_ hash: [UInt8], at now: UInt64) {
        guard waiting.contains(where: { $0.headerHash == hash }) else { return }
        refused[hash] = now &+ Self.secondThoughts
    }

    /// These will never be used.
    mutating func discarded(_ hashes: [[UInt8]]) {
        waiting.removeAll { hashes.contains($0.headerHash) }
        for hash in hashes { refused[hash] = nil }
    }

    /// The KAS took the header, or refused it for good.
    /// - Returns: false when it did not wait any more.
    @discardableResult
    mutating func settled(_ hash: [UInt8]) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0.headerHash == hash }
        refused[hash] = nil
        return waiting.count < count
    }
}
