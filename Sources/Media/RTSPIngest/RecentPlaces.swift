/// What was heard of places on the network, one thing of each address, and no longer than it is likely to be true. Unknown
/// devices fill it, so it is short. No input or output.
struct RecentPlaces<Value: Sendable>: Sendable {
    private struct Entry: Sendable {
        var address: String
        var value: Value
        var heardAt: UInt64
    }

    private var entries: [Entry] = []
    /// Nanoseconds for which something counts.
    let lifetime: UInt64
    /// Addresses at a time: the one that was heard of longest ago makes room.
    static var limit: Int { 4 }

    /// - Parameter lifetime: nanoseconds.
    init(lifetime: UInt64) {
        self.lifetime = lifetime
    }

    /// - Parameter now: CLOCK_MONOTONIC, nanoseconds.
    mutating func heard(_ value: Value, at address: String, now: UInt64) {
        entries.removeAll { $0.heardAt &+ lifetime <= now }
        if let place = entries.firstIndex(where: { $0.address == address }) {
            // In its place: what a person looks at does not jump about.
            entries[place].value = value
            entries[place].heardAt = now
            return
        }
        if entries.count >= Self.limit,
            let oldest = entries.indices.min(by: { entries[$0].heardAt < entries[$1].heardAt })
        {
            entries.remove(at: oldest)
        }
        entries.append(Entry(address: address, value: value, heardAt: now))
    }

    /// In the order in which their addresses were first heard of.
    func values(at now: UInt64) -> [Value] {
        entries.filter { now < $0.heardAt &+ lifetime }.map(\.value)
    }

    mutating func removeAll() { entries = [] }
}
