/// Which refusals get an audit line: one for each key and second, and so many of all keys together. The others are
/// counted, and each count is reported by a later line, so that a flood neither fills the disk nor hides itself.
struct RefusalThrottle {
    static let linesPerSecond = 32
    /// Keys that are told apart; all others share one.
    static let capacity = 1024
    private static let others = "*"

    private struct Source {
        var reportedAt: Int64
        var leftOut = 0
        /// The first one of those left out, for its line.
        var entry: AuditEntry
    }

    private var sources: [String: Source] = [:]
    private var second = Int64.min
    private var linesInSecond = 0

    /// - Parameters:
    ///   - key: who is refused, and why.
    ///   - now: Unix seconds.
    /// - Returns: how many were left out before, when this one gets a line; nil when it is left out as well.
    mutating func count(_ key: String, _ entry: AuditEntry, now: Int64) -> Int? {
        let key = sources[key] != nil || sources.count < Self.capacity ? key : Self.others
        if second != now { (second, linesInSecond) = (now, 0) }
        if sources[key]?.reportedAt == now || linesInSecond >= Self.linesPerSecond {
            sources[key, default: Source(reportedAt: .min, entry: entry)].leftOut += 1
            return nil
        }
        linesInSecond += 1
        let leftOut = sources[key]?.leftOut ?? 0
        sources[key] = Source(reportedAt: now, entry: entry)
        return leftOut
    }

    /// Forgets who has been quiet since an earlier second.
    ///
    /// - Returns: lines for what was left out and never reported. At most `linesPerSecond`; the last one reports the rest.
    mutating func settle(now: Int64) -> [AuditEntry] {
        let quiet = sources.filter { $0.value.reportedAt != now }
        for key in quiet.keys { sources[key] = nil }
        var lines = quiet.values.filter { $0.leftOut > 0 }.map { source in
            var entry = source.entry
            entry.time = now
            entry.leftOut = source.leftOut
            return entry
        }.sorted { ($0.leftOut ?? 0, $0.address) > ($1.leftOut ?? 0, $1.address) }
        guard lines.count > Self.linesPerSecond else { return lines }
        let rest = lines[(Self.linesPerSecond - 1)...].reduce(0) { $0 + ($1.leftOut ?? 0) }
        lines.removeSubrange((Self.linesPerSecond - 1)...)
        return lines + [
            AuditEntry(
                time: now, event: .refused, address: Self.others, decision: "deny", reason: "several", leftOut: rest)
        ]
    }
}
