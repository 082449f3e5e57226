/// A message as the relay keeps it: what it is, how large, and its ready-made bytes, shared by all who receive it.
struct RelayedMessage<Encoded: Sendable>: Sendable {
    let kind: MediaKind
    /// Bytes of the RTMP message.
    let size: Int
    let encoded: Encoded

    /// What it is charged with wherever bytes are bounded: chunk headers, the buffer's own fields and a place in the
    /// queue cost well over a hundred bytes, however short the payload.
    var cost: Int { size + 256 }
}

/// What a subscriber lost, exactly.
public struct DropCount: Equatable, Sendable, Codable {
    /// Frames that were not sent.
    public var frames = 0
    /// Their bytes.
    public var bytes = 0
    /// How often the frame was interrupted.
    public var gaps = 0

    public init() {}

    static func += (left: inout DropCount, right: DropCount) {
        left.frames += right.frames
        left.bytes += right.bytes
        left.gaps += right.gaps
    }
}

/// What waits for one subscriber, bounded in time, in bytes and in messages.
///
/// Duties: keep order; over budget, drop frames, never headers or audio, and only whole runs that end before a key
/// frame, so that a decoder never sees a frame whose reference is missing; count exactly what was dropped; say when
/// the subscriber is beyond help. Ages are counted from when a message was queued here, because a publisher's time
/// stamps may say anything.
///
/// Header frames are never dropped, so the key of the next key frame is always there when frames resume.
struct SubscriberQueue<Encoded: Sendable>: Sendable {
    private struct Entry {
        let message: RelayedMessage<Encoded>
        let queued: UInt64
    }

    private var entries: [Entry] = []
    private var head = 0
    /// Of what waits, `cost` summed up.
    private(set) var cost = 0
    private(set) var dropped = DropCount()

    /// Frames are left out until a key frame comes.
    private(set) var awaitsKeyFrame: Bool
    /// True once a frame was queued: what is left out before that is no loss, the subscriber has only just come.
    private var hasStarted = false
    /// Since when something has been waiting without a break; survives the dropping of what waited.
    private var behindSince: UInt64?
    /// When frames were last dropped.
    private var lastShed: UInt64?
    /// Even headers and audio were left out, because they alone had filled the queue twice over: the subscriber can
    /// only be closed.
    private var isGivenUp = false

    init(awaitsKeyFrame: Bool = true) {
        self.awaitsKeyFrame = awaitsKeyFrame
    }

    var isEmpty: Bool { head == entries.count }
    /// Whatever comes may be sent at once: nothing waits, and no key frame is waited for.
    var isIdle: Bool { head == entries.count && !awaitsKeyFrame && !isGivenUp }
    var count: Int { entries.count - head }

    /// False when the message was dropped.
    @discardableResult
    mutating func enqueue(_ message: RelayedMessage<Encoded>, limits: RelayLimits, at now: UInt64) -> Bool {
        guard !isGivenUp, message.kind.isVideoFrame || !isFull(limits) else {
            isGivenUp = true
            if message.kind.isVideoFrame { drop(message) }
            return false
        }
        if case .video(let isKeyFrame) = message.kind {
            if isKeyFrame, isSlow(limits, at: now), isFrameOlder(than: limits.slowSubscriberBudget, at: now) {
                shed(keepingFrom: nil, at: now)
                awaitsKeyFrame = false
            } else if isOverBudget(limits, at: now) {
                shed(keepingFrom: newestKeyFrame(limits), at: now)
            }
            if awaitsKeyFrame {
                guard isKeyFrame, !isBehind(limits, at: now) else {
                    if hasStarted { drop(message) }
                    return false
                }
                awaitsKeyFrame = false
            }
            hasStarted = true
        }
        append(message, at: now)
        return true
    }

    /// The next message that is worth sending.
    mutating func dequeue(_ transit: Transit = Transit(), limits: RelayLimits, at now: UInt64) -> RelayedMessage<
        Encoded
    >? {
        while head < entries.count, isTooLate(entries[head], transit, limits, at: now) {
            shed(keepingFrom: newestKeyFrame(limits), at: now)
        }
        // Its connection has room, and nothing waits: it is behind nothing.
        if head == entries.count { behindSince = nil }
        return next()
    }

    /// It would arrive too late to be of use. Checked only for one that lost frames lately: to all others a
    /// stall is worth waiting for.
    private func isTooLate(
        _ entry: Entry, _ transit: Transit, _ limits: RelayLimits, at now: UInt64
    ) -> Bool {
        guard entry.message.kind.isVideoFrame, isSlow(limits, at: now),
            let delay = transit.delay(of: entry.message.size)
        else { return false }
        let (arrival, overflow) = delay.addingReportingOverflow(now > entry.queued ? now - entry.queued : 0)
        return overflow || arrival > limits.slowArrival
    }

    private mutating func next() -> RelayedMessage<Encoded>? {
        guard head < entries.count else { return nil }
        let entry = entries[head]
        head += 1
        cost -= entry.message.cost
        if head == entries.count {
            entries.removeAll(keepingCapacity: entries.capacity <= 256)
            head = 0
            behindSince = nil
        } else {
            behindSince = entries[head].queued
            if head >= 64, head * 2 >= entries.count {
                entries.removeFirst(head)
                head = 0
            }
        }
        return entry.message
    }

    /// The subscriber took nothing for too long, is too far behind, or its audio and headers alone fill the budget.
    func isHopeless(_ limits: RelayLimits, at now: UInt64) -> Bool {
        if isGivenUp || isFull(limits) { return true }
        guard let behindSince else { return false }
        return now > behindSince && now - behindSince > limits.subscriberTimeout
    }

    /// The stream has a new publisher: its first frame must be a key frame for everyone.
    mutating func publisherChanged() {
        awaitsKeyFrame = true
        hasStarted = false
    }

    private mutating func append(_ message: RelayedMessage<Encoded>, at now: UInt64) {
        entries.append(Entry(message: message, queued: now))
        cost += message.cost
        if behindSince == nil { behindSince = now }
    }

    /// It lost frames lately.
    func isSlow(_ limits: RelayLimits, at now: UInt64) -> Bool {
        guard let lastShed, now >= lastShed else { return false }
        return now - lastShed <= limits.slowMemory
    }

    private func isOverBudget(_ limits: RelayLimits, at now: UInt64) -> Bool {
        isOverSize(limits) || isFrameOlder(than: limits.subscriberBudget, at: now)
    }

    private func isOverSize(_ limits: RelayLimits) -> Bool {
        cost > limits.subscriberBytes || count > limits.subscriberMessages
    }

    private func isFull(_ limits: RelayLimits) -> Bool {
        cost > limits.subscriberBytes * 2 || count > limits.subscriberMessages * 2
    }

    private func isFrameOlder(than age: UInt64, at now: UInt64) -> Bool {
        // Cheap in the usual case: nothing at all is old.
        guard head < entries.count, now > entries[head].queued, now - entries[head].queued > age else { return false }
        guard let oldest = entries[head...].first(where: { $0.message.kind.isVideoFrame }) else { return false }
        return now > oldest.queued && now - oldest.queued > age
    }

    private func isBehind(_ limits: RelayLimits, at now: UInt64) -> Bool {
        if isOverSize(limits) { return true }
        guard head < entries.count else { return false }
        let queued = entries[head].queued
        return now > queued && now - queued > limits.subscriberBudget
    }

    /// The newest key frame that waits behind another frame, when what follows from it on fits.
    private func newestKeyFrame(_ limits: RelayLimits) -> Int? {
        let waiting = entries[head...]
        guard let newest = waiting.lastIndex(where: { $0.message.kind.isKeyFrame }),
            newest != waiting.firstIndex(where: { $0.message.kind.isVideoFrame })
        else { return nil }
        let kept = waiting[newest...]
        let cost = kept.reduce(0) { $0 + $1.message.cost }
        return cost > limits.subscriberBytes || kept.count > limits.subscriberMessages ? nil : newest
    }

    /// Drops the frames before `resume`; when that is nil, all of them, and everything up to the next key frame.
    private mutating func shed(keepingFrom resume: Int?, at now: UInt64) {
        let waiting = entries[head...]
        let before = dropped.frames
        var kept: [Entry] = []
        kept.reserveCapacity(waiting.count)
        for index in waiting.indices {
            let entry = waiting[index]
            if entry.message.kind.isVideoFrame, index < resume ?? .max {
                dropped.frames += 1
                dropped.bytes += entry.message.size
                cost -= entry.message.cost
            } else {
                kept.append(entry)
            }
        }
        entries = kept
        head = 0
        if dropped.frames > before {
            dropped.gaps += 1
            lastShed = now
        }
        awaitsKeyFrame = resume == nil
    }

    private mutating func drop(_ message: RelayedMessage<Encoded>) {
        dropped.frames += 1
        dropped.bytes += message.size
    }
}
