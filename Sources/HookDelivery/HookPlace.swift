/// Where a hook is in the events of the box: what is kept over a restart.
public struct HookPlace: Codable, Equatable, Sendable {
    /// This event and all before it need not be told any more; nil: nothing was seen yet.
    public var settled: Int64?
    /// Events that were not told by themselves, since the last message that arrived.
    public var missed: UInt64

    public init(settled: Int64? = nil, missed: UInt64 = 0) {
        self.settled = settled
        self.missed = missed
    }
}
