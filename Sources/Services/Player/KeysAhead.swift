internal import KeyAccessClient

/// Keys of collections that are announced and have not begun: asked for at a random moment, so that the viewers of a
/// stream do not all ask at once, and kept aside until the header comes. A pure decision; time is in nanoseconds.
struct KeysAhead {
    struct Ready {
        var hash: [UInt8]
        var grant: CollectionGrant
        var receivedAt: UInt64
    }

    /// Half of a rotation, and no more than this.
    private static let maxDelay: UInt64 = 30_000_000_000
    /// Whoever announces collections faster than a stream can have them is not followed.
    private static let minInterval: UInt64 = 250_000_000
    /// One that the stream may begin any moment, and one that was announced since.
    private static let maxCount = 2

    private var ready: [Ready] = []
    private var announcedAt: UInt64?
    private(set) var requested: [UInt8]?

    /// - Returns: after how many nanoseconds the key is to be asked for; nil for not at all.
    mutating func announced(_ hash: [UInt8], rotation: Double, at now: UInt64, random: UInt64) -> UInt64? {
        if let announcedAt, now < announcedAt &+ Self.minInterval { return nil }
        guard hash != requested, !ready.contains(where: { $0.hash == hash }) else { return nil }
        announcedAt = now
        requested = hash
        let seconds = rotation.isFinite ? min(max(rotation, 1) / 2, 30) : 30
        return random % (min(UInt64(seconds * 1e9), Self.maxDelay) + 1)
    }

    mutating func arrived(_ grant: CollectionGrant, forHeader hash: [UInt8], at now: UInt64) {
        guard hash == requested else { return }
        requested = nil
        if ready.count >= Self.maxCount { ready.removeFirst() }
        ready.append(Ready(hash: hash, grant: grant, receivedAt: now))
    }

    /// The header came.
    mutating func take(_ hash: [UInt8]) -> Ready? {
        if requested == hash { requested = nil }
        guard let index = ready.firstIndex(where: { $0.hash == hash }) else { return nil }
        return ready.remove(at: index)
    }
}
