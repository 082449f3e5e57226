/// What is so by the time of day, and since when without a break. Without I/O; a jump of the time of day makes keys look
/// old, or of the future, for a while.
struct SustainedFindings: Equatable, Sendable {
    /// In nanoseconds of a clock that never jumps.
    private var since: [String: UInt64] = [:]

    var findings: Set<String> { Set(since.keys) }

    /// - Parameter now: all that is so at present; what is not among them is forgotten.
    /// - Returns: what has been so for `delay`.
    mutating func due(_ now: Set<String>, after delay: Duration, at uptime: UInt64) -> Set<String> {
        since = since.filter { now.contains($0.key) }
        for finding in now where since[finding] == nil { since[finding] = uptime }
        return now.filter { finding in
            let began = since[finding] ?? uptime
            return uptime >= began && .nanoseconds(Int64(clamping: uptime - began)) >= delay
        }
    }
}
