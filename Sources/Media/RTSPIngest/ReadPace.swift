/// When to look for packets again: a thread that is woken by every packet of a frame spends its time with waking up.
///
/// A camera sends a frame as a burst and is silent until the next one. So the socket is asked to wake the thread only
/// when about a frame's worth of bytes is there (its low-water mark), and a few milliseconds later the whole burst is
/// read in one go. Audio that comes meanwhile goes out with the next frame. Where the mark is too high for once, as
/// for the first frame of a scene that has come to rest, the time at which a frame was due ends the wait. Times are
/// CLOCK_MONOTONIC in nanoseconds.
struct ReadPace {
    /// Gathers the packets of one burst.
    static let burst: UInt64 = 4_000_000
    /// The most that bytes wait for others: frames of 25 a second and what audio comes between them.
    static let maxLength: UInt64 = 50_000_000
    /// The same until the distance of frames is known.
    static let firstWait: UInt64 = 20_000_000
    /// How much later than expected a frame may come before what is there is read without it.
    static let margin: UInt64 = 8_000_000

    /// Bytes; of what is there until the size of frames is known.
    static let part: Int32 = 4096
    /// Well below what a socket holds.
    static let maxPart: Int32 = 32 << 10
    private static let window = 8

    /// For datagrams, which are lost when a buffer overflows.
    var readsBursts = true
    private var readAt: UInt64 = 0
    private var frameAt: UInt64?
    /// Between the newest frames; the longest of the last few counts.
    private var distances: [UInt64] = []
    /// What was read from the end of a frame to the end of the next; the least of the last few counts.
    private var sizes: [Int] = []
    /// Since the last frame ended; more than the highest mark asks for is as good as any number.
    private var bytes = 0
    private var hasBytes = false
    /// In this look.
    private var frames: UInt64 = 0

    /// The thread looks.
    mutating func read(at now: UInt64) {
        readAt = now
        hasBytes = false
        frames = 0
    }

    /// It finds so many bytes.
    mutating func took(_ count: Int) {
        guard count > 0 else { return }
        hasBytes = true
        bytes = min(2 * Int(Self.maxPart), bytes + min(count, 2 * Int(Self.maxPart)))
    }

    /// A frame was complete in what was read at `now`; several in one look share what it took.
    mutating func frameEnded(at now: UInt64) {
        if frames == 0 {
            if let frameAt, now > frameAt { Self.note(now - frameAt, in: &distances) }
            Self.note(bytes, in: &sizes)
            bytes = 0
            frameAt = now
        } else {
            if let last = distances.last { distances[distances.count - 1] = last / (frames + 1) * frames }
            if let last = sizes.last { sizes[sizes.count - 1] = last / Int(frames + 1) * Int(frames) }
        }
        frames = min(frames + 1, 1000)
    }

    private static func note<Value>(_ value: Value, in newest: inout [Value]) {
        newest.append(value)
        if newest.count > window { newest.removeFirst() }
    }

    /// The socket's low-water mark, in bytes: between three eighths and three quarters of the smallest of the last few
    /// frames, in powers of two, so that it seldom changes.
    var mark: Int32 {
        guard sizes.count == Self.window, let smallest = sizes.min() else { return Self.part }
        let most = max(1, min(Int32(clamping: smallest / 4 * 3), Self.maxPart))
        return 1 << (31 - Int32(most.leadingZeroBitCount))
    }

    /// A frame is on its way, of which the rest may be less than the mark: it is read without waiting for the mark.
    var isGathering: Bool { readsBursts && hasBytes && frames == 0 && bytes >= Int(mark) }

    /// How long the mark may keep the thread waiting.
    func wait(at now: UInt64) -> UInt64 {
        guard frames > 0, let frameAt, distances.count == Self.window, let longest = distances.max() else {
            return Self.firstWait
        }
        let until = frameAt &+ min(longest &+ Self.margin, Self.maxLength)
        return until > now ? until - now : 0
    }

    /// How long not to look at all: until what has begun to come is there.
    func pause(at now: UInt64) -> UInt64? {
        guard !readsBursts || isGathering else { return nil }
        let until = readAt &+ Self.burst
        return until > now ? until - now : nil
    }
}
