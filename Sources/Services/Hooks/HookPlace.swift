/// Where a hook is in the events of the box: what is kept over a restart.
struct HookPlace: Codable, Equatable, Sendable {
    /// This event and all before it need not be reported any more; nil: nothing was seen yet.
    var settled: Int64?
    /// Events that were not reported one by one, since the last message that arrived.
    var missed: UInt64 = 0
}
