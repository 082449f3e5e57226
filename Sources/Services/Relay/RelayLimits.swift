/// How much one relay holds, and for how long. Times in nanoseconds of a monotonic clock. Where bytes of waiting or
/// kept messages are bounded, each message counts with 256 bytes more than its payload, which it costs in memory.
public struct RelayLimits: Equatable, Sendable {
    /// Streams with a publisher; those whose path has a publish key do not count, they have their place.
    public var streams = 256
    /// Of names that players wait for though nobody publishes them.
    var awaited = AwaitedNames.Limits()
    public var subscribersPerStream = 2000
    /// App and stream name, each, in UTF-8 bytes.
    public var nameLength = 256

    /// A subscriber whose oldest waiting frame is older loses frames up to a key frame. What its connection and the
    /// kernel hold comes on top and is not known at first, hence less than the two seconds that are promised.
    public var subscriberBudget: UInt64 = 1_500_000_000
    /// For one that lost frames within the last `slowMemory`, whose pace is known: a frame that would arrive at an
    /// age beyond this, what is on its way before it included, is not sent.
    public var slowArrival: UInt64 = 1_750_000_000
    /// For one that lost frames within the last `slowMemory`: it is taken on to each new key frame when its oldest
    /// waiting frame is older than this. A link that is too thin for good stays close to the live image, while a
    /// single stall costs nothing.
    public var slowSubscriberBudget: UInt64 = 500_000_000
    public var slowMemory: UInt64 = 10_000_000_000
    /// The same in bytes, and in messages. Both hold a whole cached group and what comes while it is sent. At twice as
    /// much a subscriber is given up.
    public var subscriberBytes = 12 << 20
    public var subscriberMessages = 12 << 10
    /// A subscriber that took nothing for so long, or is so far behind, is closed.
    public var subscriberTimeout: UInt64 = 10_000_000_000

    /// What a late joiner is given at most, in bytes, in messages and in stream time. A longer group of pictures is not
    /// kept: who joins then waits for the next key frame.
    public var groupBytes = 8 << 20
    public var groupMessages = 8 << 10
    public var groupDuration: UInt64 = 10_000_000_000

    /// How long an audio frame or a header may wait for the next frame, to share a write with it; and how much may gather.
    public var batchDelay: UInt64 = 20_000_000
    public var batchBytes = 256 << 10
    public var batchMessages = 64
    /// What one subscriber with much to catch up on is given before others have their turn; one message more at most.
    public var turnBytes = 64 << 10

    /// How long subscribers wait for a lost publisher before they are informed that the stream has ended.
    public var grace: UInt64 = 10_000_000_000
    /// A publisher that sent nothing for so long yields its name to a new one without a key.
    public var publisherSilence: UInt64 = 2_000_000_000
    /// The longest data message (metadata, cue points) that is passed on, in bytes.
    public var dataMessageBytes = 256 << 10

    public init() {}
}
