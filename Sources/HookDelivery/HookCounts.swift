/// What became of a hook's events since its process began.
public struct HookCounts: Equatable, Sendable {
    /// Messages that arrived.
    public var delivered: UInt64 = 0
    /// Events that the message of a later one stands for, because there were too many in a minute.
    public var joined: UInt64 = 0
    /// Events that were pushed out of a full queue.
    public var overflowed: UInt64 = 0
    /// Events that were too old before the receiver took them.
    public var expired: UInt64 = 0
    /// Events that the receiver refused.
    public var refused: UInt64 = 0
    /// Requests that came to nothing and are made again.
    public var failures: UInt64 = 0

    public init() {}

    /// Events that no message told by themselves.
    public var missed: UInt64 { joined + overflowed + expired + refused }
}
