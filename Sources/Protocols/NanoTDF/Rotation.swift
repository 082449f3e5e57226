/// When a publisher begins a new collection (docs/ref/wire-format.md, "When a collection begins").
public struct RotationPolicy: Equatable, Sendable {
    /// Rotate at the first key frame when the collection is older than this, in nanoseconds.
    public var age: UInt64
    /// Rotate at the first key frame after this many items.
    public var items: UInt32
    /// From this many items on, frames are dropped until a key frame comes.
    public var forcedItems: UInt32
    /// Arkavo's habit, for compatibility: a new collection before every key frame.
    public var everyKeyFrame: Bool

    /// 60 s, 2^20 items, forced at 2^23.
    public init(
        age: UInt64 = 60_000_000_000, items: UInt32 = 1 << 20, forcedItems: UInt32 = 1 << 23,
        everyKeyFrame: Bool = false
    ) {
        self.age = age
        self.items = items
        self.forcedItems = min(forcedItems, ContainerItem.lastCounter)
        self.everyKeyFrame = everyKeyFrame
    }
}

/// Decides before each frame whether the current collection goes on. One for each connection; informed of every
/// collection that takes over.
public struct RotationState: Sendable {
    public enum Decision: Equatable, Sendable {
        /// Seal under the current collection.
        case proceed
        /// Take the next collection, queue metadata, header and this key frame as one entry.
        case rotate
        /// Drop the frame and ask the source for a key frame: the counter comes near its end.
        case dropUntilKeyFrame
    }

    private let policy: RotationPolicy
    private var startedAt: UInt64
    private var isDemanded = false

    /// - Parameter now: when the first collection began.
    public init(policy: RotationPolicy = RotationPolicy(), at now: UInt64) {
        self.policy = policy
        startedAt = now
    }

    /// The KAS key, its identifier or the policy changed: rotate at the next key frame, which the caller requests.
    public mutating func rotationDemanded() {
        isDemanded = true
    }

    /// A frame is about to be sealed. Only video frames are key frames; audio of a stream without video counts as
    /// one, or it could never rotate.
    /// - Parameter itemCount: items of the current collection so far.
    public func frameArrives(isKeyFrame: Bool, itemCount: UInt32, at now: UInt64) -> Decision {
        if isKeyFrame {
            let age = now >= startedAt ? now - startedAt : 0
            let isDue = isDemanded || policy.everyKeyFrame || age >= policy.age || itemCount >= policy.items
            // A first key frame directly after the start goes under the collection that was made for it.
            if isDue && (itemCount > 0 || isDemanded) { return .rotate }
            return .proceed
        }
        return itemCount >= policy.forcedItems ? .dropUntilKeyFrame : .proceed
    }

    /// A new collection took over.
    public mutating func rotated(at now: UInt64) {
        startedAt = now
        isDemanded = false
    }
}
