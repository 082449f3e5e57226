/// Which keys were given to whom within the last minute. The first time has its line before the key goes out; the same key
/// once more to the same subject in the same network gives nothing new, and is counted for a later line. So who may view a
/// stream cannot fill a disk by asking for its key again and again.
struct PermitMemory {
    /// Seconds.
    static let window: Int64 = 60
    /// Keys that are remembered; of what does not fit each time has its line.
    static let capacity = 4096

    private struct Given {
        var reportedAt: Int64
        var entry: AuditEntry
        var repeats = 0
    }

    private var given: [String: Given] = [:]

    /// - Parameter now: Unix seconds.
    /// - Returns: nil when it was logged within the window; else how many times since then were not.
    mutating func asked(_ key: String, now: Int64) -> Int? {
        guard let known = given[key] else { return 0 }
        guard now >= known.reportedAt, now - known.reportedAt < Self.window else { return known.repeats }
        given[key]?.repeats += 1
        return nil
    }

    /// Its line is written.
    mutating func reported(_ key: String, _ entry: AuditEntry, now: Int64) {
        guard given[key] != nil || given.count < Self.capacity else { return }
        given[key] = Given(reportedAt: now, entry: entry)
    }

    /// - Returns: a line for each that was asked for again and whose minute is over.
    mutating func settle(now: Int64) -> [AuditEntry] {
        let over = given.filter { now < $0.value.reportedAt || now - $0.value.reportedAt >= Self.window }
        for key in over.keys { given[key] = nil }
        return over.values.filter { $0.repeats > 0 }.map { given in
            var entry = given.entry
            entry.time = now
            entry.repeats = given.repeats
            return entry
        }.sorted { ($0.address, $0.headerSha256 ?? "") < ($1.address, $1.headerSha256 ?? "") }
    }
}
