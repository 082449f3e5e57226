/// Notices that the frames of a stream have stopped, whatever else still flows: audio, sender reports and answers do
/// not count.
///
/// Three seconds without a packet are a freeze at usual rates; at low ones it is three frames and two seconds. A
/// camera that sends in bursts is learned. Whole frames that wait for a key frame are life as well, up to the longest
/// distance of key frames that is known of cameras. No input or output: instants are CLOCK_MONOTONIC, nanoseconds.
public struct FreezeWatch: Equatable, Sendable {
    public enum Finding: Equatable, Sendable {
        /// Nothing came since PLAY was answered.
        case silent
        /// Something comes, but no frame that a viewer can begin with; or none any more since a part of one was lost.
        ///
        /// - Parameter seconds: for how long.
        case noKeyFrame(seconds: Int)
        /// It ran, and stopped.
        case frozen
    }

    private let began: UInt64
    /// Of the last packet of the frames' track.
    private var packetAt: UInt64?
    private var frameAt: UInt64?
    /// Of the newest whole frame that was left out, because it is of no use before the next key frame.
    private var skippedAt: UInt64?
    private var keyFrameAt: UInt64?
    /// The longest distance of two key frames, nanoseconds; 0 before the second one.
    public private(set) var knownGroup: UInt64 = 0
    /// The same of an earlier session.
    private let earlierGroup: UInt64
    /// The first key frame came as quickly as if PLAY had asked for it: so may the next one, of a new session.
    private var beginsWithKeyFrame = false
    /// Nanoseconds between frames, from their arrivals, the newest last.
    private var gaps: [UInt64] = []
    /// The longest of this minute and of the minute before.
    private var longestGap: UInt64 = 0
    private var earlierGap: UInt64 = 0
    private var minuteBegan: UInt64
    private let promised: UInt64

    static let maxSilence: UInt64 = 3_000_000_000
    /// In the first seconds nothing is known yet of a camera that sends in bursts.
    static let firstSilence: UInt64 = 5_000_000_000
    static let learning: UInt64 = 10_000_000_000
    static let extra: UInt64 = 2_000_000_000
    static let maxFrames: UInt64 = 3
    /// What bursts can make of the limit at most.
    static let maxBurst: UInt64 = 5_500_000_000
    /// From PLAY to the first key frame, and from a loss to the next one: one group of frames. While nothing whole
    /// comes, and where the camera was seen to have short ones.
    public static let usualGroup: UInt64 = 10_000_000_000
    /// The same while whole frames come, of which the next one may be it: a minute ("smart" codecs), and some.
    public static let longestGroup: UInt64 = 66_000_000_000
    /// From PLAY to a key frame that PLAY brought.
    static let promptKeyFrame: UInt64 = 2_000_000_000
    private static let window = 16
    private static let memory: UInt64 = 60_000_000_000
    /// A rate below one frame a minute does not count.
    private static let maxInterval: UInt64 = 60_000_000_000

    /// - Parameters:
    ///   - rate: frames per second that the camera promised; nil when it did not.
    ///   - earlierGroup: `knownGroup` of an earlier session with this camera, nanoseconds; 0 when there is none.
    public init(rate: Double?, earlierGroup: UInt64 = 0, at now: UInt64) {
        began = now
        self.earlierGroup = earlierGroup
        minuteBegan = now
        if let rate, rate > 1.0 / 60, rate < 1000 { promised = UInt64(1e9 / rate) } else { promised = 0 }
    }

    public mutating func packetArrived(at now: UInt64) {
        packetAt = max(packetAt ?? 0, now)
    }

    /// A whole frame came that is left out: it needs a key frame before it.
    public mutating func frameSkipped(at now: UInt64) {
        skippedAt = max(skippedAt ?? 0, now)
        packetAt = max(packetAt ?? 0, now)
    }

    /// A whole frame that goes out.
    public mutating func frameArrived(at now: UInt64, isKeyFrame: Bool = false) {
        if isKeyFrame {
            if keyFrameAt == nil { beginsWithKeyFrame = now <= began &+ Self.promptKeyFrame }
            if let keyFrameAt, now > keyFrameAt { knownGroup = max(knownGroup, now - keyFrameAt) }
            keyFrameAt = max(keyFrameAt ?? 0, now)
        }
        // What a wait for a key frame took says nothing about how frames come.
        if let frameAt, now > frameAt, skippedAt.map({ $0 <= frameAt }) ?? true {
            let gap = now - frameAt
            gaps.append(min(gap, Self.maxInterval))
            if gaps.count > Self.window { gaps.removeFirst() }
            longestGap = max(gap, longestGap)
            if now > minuteBegan, now - minuteBegan >= Self.memory {
                earlierGap = longestGap
                longestGap = 0
                minuteBegan = now
            }
        }
        frameAt = max(frameAt ?? 0, now)
        packetAt = max(packetAt ?? 0, now)
    }

    /// Nanoseconds between two frames, as they come.
    var interval: UInt64 {
        guard !gaps.isEmpty else { return promised }
        let measured = gaps.reduce(0, &+) / UInt64(gaps.count)
        // Two frames are no rate yet.
        return gaps.count < 4 ? max(measured, promised) : measured
    }

    /// Nanoseconds without a packet that are a freeze.
    var limit: UInt64 {
        let slow = interval &* Self.maxFrames &+ Self.extra
        let gap = min(max(longestGap, earlierGap), Self.maxInterval)
        let burst = min(gap + gap / 2 + Self.extra / 2, Self.maxBurst)
        let least = (frameAt ?? began) &- began < Self.learning ? Self.firstSilence : Self.maxSilence
        return max(least, slow, burst)
    }

    /// Nanoseconds from PLAY, or from the last frame that went out, to the next one: with whole frames that wait
    /// for a key frame, and without.
    private var groups: (waiting: UInt64, other: UInt64) {
        // Slow cameras have slow groups as well.
        let least = max(Self.usualGroup, limit)
        // At the start what an earlier session showed proves nothing: the camera may have been set again since.
        let group = knownGroup > 0 ? knownGroup : frameAt == nil ? 0 : earlierGroup
        guard group > 0 else {
            // Where a new session begins with a key frame at once, waiting for one costs more than connecting again.
            return (beginsWithKeyFrame ? least : max(Self.longestGroup, least), least)
        }
        let known = min(group, Self.longestGroup / 2) &* 2
        return (max(known, least), least)
    }

    /// Until when frames may fail to go out. Nil: nothing came yet.
    private var groupDeadline: UInt64? {
        guard packetAt != nil else { return nil }
        let base = frameAt ?? began
        let (waiting, other) = groups
        guard let skippedAt, skippedAt >= base else { return base &+ other }
        // With the last whole frame ends what it promised.
        return min(base &+ waiting, max(base &+ other, skippedAt &+ limit))
    }

    /// A key frame is waited for, for longer than usual.
    public func isWaitingLong(at now: UInt64) -> Bool {
        guard let skippedAt else { return false }
        let base = frameAt ?? began
        return skippedAt >= base && now >= base &+ Self.usualGroup
    }

    /// What is wrong at this instant; nil: nothing.
    public func finding(at now: UInt64) -> Finding? {
        guard let packetAt, let groupDeadline else {
            return now >= began &+ Self.usualGroup ? .silent : nil
        }
        if frameAt != nil || skippedAt != nil, now >= packetAt &+ limit { return .frozen }
        guard now >= groupDeadline else { return nil }
        return .noKeyFrame(seconds: Int(clamping: (now &- (frameAt ?? began)) / 1_000_000_000))
    }

    /// When `finding` is to be asked again at the latest, if nothing comes.
    public var nextDeadline: UInt64 {
        guard let packetAt, let groupDeadline else { return began &+ Self.usualGroup }
        guard frameAt != nil || skippedAt != nil else { return groupDeadline }
        return min(packetAt &+ limit, groupDeadline)
    }
}
