/// What a stream has for all its subscribers and has not yet handed out.
///
/// An audio frame or a header waits a moment for the next frame: most of what a subscriber costs is the system call that
/// each write is, and so frames, audio and headers share one.
struct OutputBatch<Encoded: Sendable>: Sendable {
    struct Item: Sendable {
        let message: RelayedMessage<Encoded>
        /// From here on its age counts.
        let arrived: UInt64
    }

    private(set) var items: [Item] = []
    /// When it must go.
    private(set) var due: UInt64 = .max
    private var cost = 0

    mutating func append(_ message: RelayedMessage<Encoded>, limits: RelayLimits, at now: UInt64) {
        items.append(Item(message: message, arrived: now))
        cost += message.cost
        let isFull = cost > limits.batchBytes || items.count >= limits.batchMessages
        due = min(due, message.kind.isVideoFrame || isFull ? now : now &+ limits.batchDelay)
    }

    /// Everything, in order; nothing is left.
    mutating func take() -> [Item] {
        defer { self = OutputBatch() }
        return items
    }
}
