/// Notices that the pictures of a stream have stopped, whatever else still flows: sound, sender reports and answers do not
/// count.
///
/// Three seconds without a packet are a freeze at usual rates; at low ones it is three pictures and two seconds. A camera
/// that sends in bursts is learned. No input or output: instants are CLOCK_MONOTONIC, nanoseconds.
public struct FreezeWatch: Equatable, Sendable {
    public enum Finding: Equatable, Sendable {
        /// Nothing came since PLAY was answered.
        case silent
        /// Something comes, but no picture that a viewer can begin with; or none any more since a part of one was lost.
        case noKeyFrame
        /// It ran, and stopped.
        case frozen
    }

    private let began: UInt64
    /// Of the last packet of the pictures' track.
    private var packetAt: UInt64?
    private var pictureAt: UInt64?
    /// Nanoseconds between pictures, from their arrivals, the newest last.
    private var gaps: [UInt64] = []
    /// The longest of this minute and of the minute before.
    private var longestGap: UInt64 = 0
    private var earlierGap: UInt64 = 0
    private var minuteBegan: UInt64
    private let promised: UInt64

    static let longestSilence: UInt64 = 3_000_000_000
    /// In the first seconds nothing is known yet of a camera that sends in bursts.
    static let firstSilence: UInt64 = 5_000_000_000
    static let learning: UInt64 = 10_000_000_000
    static let extra: UInt64 = 2_000_000_000
    static let mostPictures: UInt64 = 3
    /// What bursts can make of the limit at most.
    static let longestBurst: UInt64 = 5_500_000_000
    /// From PLAY to the first key frame, and from a loss to the next one: one group of pictures.
    public static let longestGroup: UInt64 = 10_000_000_000
    private static let window = 16
    private static let memory: UInt64 = 60_000_000_000
    /// A rate below one picture a minute is none.
    private static let longestInterval: UInt64 = 60_000_000_000

    /// - Parameter rate: pictures per second that the camera promised; nil when it did not.
    public init(rate: Double?, at now: UInt64) {
        began = now
        minuteBegan = now
        if let rate, rate > 1.0 / 60, rate < 1000 { promised = UInt64(1e9 / rate) } else { promised = 0 }
    }

    public mutating func packetArrived(at now: UInt64) {
        packetAt = max(packetAt ?? 0, now)
    }

    /// A whole picture that goes out.
    public mutating func pictureArrived(at now: UInt64) {
        if let pictureAt, now > pictureAt {
            let gap = now - pictureAt
            gaps.append(min(gap, Self.longestInterval))
            if gaps.count > Self.window { gaps.removeFirst() }
            longestGap = max(gap, longestGap)
            if now > minuteBegan, now - minuteBegan >= Self.memory {
                earlierGap = longestGap
                longestGap = 0
                minuteBegan = now
            }
        }
        pictureAt = max(pictureAt ?? 0, now)
        packetAt = max(packetAt ?? 0, now)
    }

    /// Nanoseconds between two pictures, as they come.
    var interval: UInt64 {
        guard !gaps.isEmpty else { return promised }
        let measured = gaps.reduce(0, &+) / UInt64(gaps.count)
        // Two pictures are no rate yet.
        return gaps.count < 4 ? max(measured, promised) : measured
    }

    /// Nanoseconds without a packet that are a freeze.
    var limit: UInt64 {
        let slow = interval &* Self.mostPictures &+ Self.extra
        let gap = min(max(longestGap, earlierGap), Self.longestInterval)
        let burst = min(gap + gap / 2 + Self.extra / 2, Self.longestBurst)
        let least = (pictureAt ?? began) &- began < Self.learning ? Self.firstSilence : Self.longestSilence
        return max(least, slow, burst)
    }

    /// What is wrong at this instant; nil: nothing.
    public func finding(at now: UInt64) -> Finding? {
        guard let packetAt else { return now >= began &+ Self.longestGroup ? .silent : nil }
        // Slow cameras have slow groups as well.
        let group = max(Self.longestGroup, limit)
        guard let pictureAt else { return now >= began &+ group ? .noKeyFrame : nil }
        if now >= packetAt &+ limit { return .frozen }
        return now >= pictureAt &+ group ? .noKeyFrame : nil
    }

    /// When `finding` is to be asked again at the latest, if nothing comes.
    public var nextDeadline: UInt64 {
        guard let packetAt else { return began &+ Self.longestGroup }
        let group = max(Self.longestGroup, limit)
        guard let pictureAt else { return began &+ group }
        return min(packetAt &+ limit, pictureAt &+ group)
    }
}
