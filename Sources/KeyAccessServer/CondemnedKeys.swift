/// Keys whose overlap is over, and since when they have been so without a break. Without I/O; a jump of the time of day
/// makes keys look old for a while, and must not destroy any.
struct CondemnedKeys: Equatable, Sendable {
    /// By kid, in nanoseconds of a clock that never jumps.
    private var since: [String: UInt64] = [:]

    var kids: Set<String> { Set(since.keys) }

    /// - Parameter over: all whose overlap is over by the time of day; one that is not among them is forgotten.
    /// - Returns: those that have been so for `delay`.
    mutating func due(_ over: Set<String>, after delay: Duration, at uptime: UInt64) -> Set<String> {
        since = since.filter { over.contains($0.key) }
        for kid in over where since[kid] == nil { since[kid] = uptime }
        return over.filter { kid in
            let began = since[kid] ?? uptime
            return uptime >= began && .nanoseconds(Int64(clamping: uptime - began)) >= delay
        }
    }
}
