/// What became of a hook's events since its process began.
struct HookCounts: Equatable, Sendable {
    /// Messages that arrived.
    var delivered: UInt64 = 0
    /// Events that the message of a later one stands for, because there were too many in a minute.
    var joined: UInt64 = 0
    /// Events that were pushed out of a full queue.
    var overflowed: UInt64 = 0
    /// Events that were too old before the receiver took them.
    var expired: UInt64 = 0
    /// Events that the receiver refused.
    var refused: UInt64 = 0
    /// Requests that came to nothing and are made again.
    var failures: UInt64 = 0

    /// Events that no message reported one by one.
    var missed: UInt64 { joined + overflowed + expired + refused }
}
