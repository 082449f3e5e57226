public import Media

/// Puts the RTP timestamps of one stream on this machine's clock.
///
/// A stream's first unit stands at its arrival; durations are the camera's; the drift between the two clocks is taken
/// out slowly, at most 500 ppm, so that a camera that sends in bursts still gives even steps. A step that no stream
/// makes (backward by more than reordered frames explain, or far forward) begins a new timeline at its arrival.
///
/// A clock that runs at another rate than it announces is found out when its units stand a quarter of a second from
/// where they should: from then on its durations are stretched (see `Policy`).
///
/// A timeline that begins with units that the camera had kept back is moved until the newest one stands at its arrival:
/// those before it follow each other in steps of a millisecond. Nothing stands more than a second ahead of its arrival.
public struct StreamClock: Sendable {
    public struct Placement: Equatable, Sendable {
        /// On the axis of CLOCK_MONOTONIC. Never before `decodeTime`.
        public var presentationTime: MediaTime
        /// The same axis; strictly increasing over all units, new timelines too.
        public var decodeTime: MediaTime
        /// The first unit, and each one behind a step.
        public var beginsTimeline: Bool
    }

    /// Whose timing decides how long a unit lasts.
    public enum Policy: Sendable, CaseIterable {
        /// The camera's, whatever it says; only drift of up to 500 ppm is taken out.
        case camera
        /// That of the arrivals, evened out; the camera's timestamps give only the order in which frames are shown.
        case arrival
        /// The camera's as long as it agrees with arrivals, and corrected by the rate that was measured when it does
        /// not.
        case auto
    }

    /// What units are placed by.
    public enum Basis: Equatable, Sendable {
        case camera
        /// The camera's durations, corrected: by its own clock so many seconds pass in one of ours.
        case corrected(speed: Double)
        case arrival
    }

    private static let second: Int64 = 1_000_000_000
    /// 36 years: timestamps that are not believed can run ahead of everything.
    private static let longestTimeline: Int64 = 1 << 60
    /// Between units that would have the same time.
    private static let leastStep: Int64 = 1000
    /// Between units that the camera had kept back: those of a whole group fit before the next one.
    private static let squeezedStep: Int64 = 1_000_000
    private static let stepBetweenTimelines: Int64 = 1_000_000

    private let clockRate: Int64
    private let policy: Policy
    private var arrivals = ArrivalTimes()
    private var shown = ShownOrder()
    private var timeline = Timeline(base: 0, timestamp: 0, arrival: 0)
    private var hasBegun = false
    private var isOver = false
    private var lastDecodeTime: Int64 = 0
    private var lastArrival: Int64 = 0
    /// The latest presentation time so far.
    private var end: Int64 = 0
    /// Units are left out until arrivals have come up to `end`.
    private var isWaiting = false

    /// Steps that began a new timeline; the first one is not counted.
    public private(set) var timelines: UInt64 = 0
    /// Units for which there was no place.
    public private(set) var leftOut: UInt64 = 0

    /// - Parameter clockRate: ticks per second; less than one is taken for one.
    public init(clockRate: Int, policy: Policy = .auto) {
        self.clockRate = Int64(max(1, clockRate))
        self.policy = policy
    }

    /// How much faster the camera's clock runs than ours; nil until more than a minute of this timeline was seen, or
    /// the clock was found to run at another rate.
    public var driftPartsPerMillion: Double? {
        switch basis {
        case .camera: timeline.drift.partsPerMillion
        case .corrected(let speed): (speed - 1) * 1e6
        case .arrival: nil
        }
    }

    public var basis: Basis {
        if policy == .arrival || timeline.rate.isKnownUseless(at: lastArrival) { return .arrival }
        return timeline.rate.speed(at: lastArrival).map { .corrected(speed: $0) } ?? .camera
    }

    private var isByArrival: Bool { policy == .arrival || timeline.rate.isUseless }

    /// Takes the units in the order in which they came.
    ///
    /// - Parameter arrival: CLOCK_MONOTONIC, nanoseconds.
    /// - Returns: nil when the unit must be left out: the camera's timestamps ran so far ahead that there is no place
    ///   less than a second before its arrival. Nothing is placed again until arrivals have caught up. Behind a frame
    ///   that was left out, those that refer to it must be too: see `RTPTrack.requireKeyFrame()`.
    public mutating func place(_ timestamp: UInt32, arrival: UInt64) -> Placement? {
        // Half of the range: 146 years leave room for every sum below.
        let arrival = max(lastArrival, Int64(min(arrival, UInt64(Int64.max / 2))))
        lastArrival = arrival
        if isWaiting {
            guard arrival >= end else { return leaveOut() }
            isWaiting = false
            isOver = true
        }
        guard hasBegun, !isOver, let ticks = ticks(of: timestamp, arrival: arrival) else {
            return beginTimeline(timestamp, arrival: arrival)
        }
        return placeBehind(ticks, timestamp, arrival: arrival)
    }

    /// The next unit begins a new timeline, whatever its timestamp (`EncodedUnit.beginsSource`).
    public mutating func restart() {
        isOver = true
    }

    private mutating func leaveOut() -> Placement? {
        isWaiting = true
        leftOut &+= 1
        return nil
    }

    private mutating func beginTimeline(_ timestamp: UInt32, arrival: Int64) -> Placement? {
        let base = hasBegun ? max(arrival, end + Self.stepBetweenTimelines) : arrival
        guard base - arrival <= Self.second else { return leaveOut() }
        if hasBegun { timelines += 1 }
        hasBegun = true
        isOver = false
        timeline = Timeline(
            base: base, timestamp: timestamp, arrival: arrival, order: PictureOrder(behind: timeline.order))
        arrivals = ArrivalTimes()
        shown = ShownOrder()
        lastDecodeTime = base
        end = base
        let time = MediaTime(nanoseconds: base)
        return Placement(presentationTime: time, decodeTime: time, beginsTimeline: true)
    }

    private mutating func placeBehind(_ ticks: Int64, _ timestamp: UInt32, arrival: Int64) -> Placement? {
        let camera = nanoseconds(ticks)
        if policy == .auto { timeline.measure(camera, arrival: arrival) }
        if timeline.rate.isUsableAgain { return beginTimeline(timestamp, arrival: arrival) }
        if isByArrival { return placeByArrival(ticks, timestamp, arrival: arrival) }
        let isFollowing = timeline.rate.isFollowing
        if !isFollowing { timeline.settle(ahead: timeline.time(of: camera) - arrival, arrival: arrival) }
        if !isFollowing { timeline.observeDrift(camera, arrival: arrival, passed: nanoseconds(ticks - timeline.ticks)) }
        let corrected = timeline.time(of: camera)
        timeline.advance(to: ticks, camera, timestamp, arrival: arrival)
        let isSqueezed = timeline.wasMoved && corrected <= lastDecodeTime
        let least = lastDecodeTime + (isSqueezed ? Self.squeezedStep : Self.leastStep)
        let decode = max(timeline.order.decodeTime(presentation: corrected), least)
        return placement(max(corrected, decode), decode, arrival: arrival)
    }

    private mutating func placeByArrival(_ ticks: Int64, _ timestamp: UInt32, arrival: Int64) -> Placement? {
        let camera = nanoseconds(ticks)
        timeline.advance(to: ticks, camera, timestamp, arrival: arrival)
        var decode = max(arrivals.next(arrival: arrival), lastDecodeTime + Self.squeezedStep)
        // It has to come before the one that is shown behind it.
        if let later = shown.later(than: camera) {
            decode = max(min(decode, lastDecodeTime + (later - lastDecodeTime) / 2), lastDecodeTime + 1)
        }
        // How much later a frame is shown than it comes is still the camera's to say.
        let reported = timeline.base + camera
        let wait = max(0, min(Self.second, reported - timeline.order.decodeTime(presentation: reported)))
        let presentation = shown.time(of: camera, preferred: decode + wait, least: decode)
        return placement(presentation, decode, arrival: arrival)
    }

    private mutating func placement(_ presentation: Int64, _ decode: Int64, arrival: Int64) -> Placement? {
        guard decode - arrival <= Self.second else { return leaveOut() }
        lastDecodeTime = decode
        end = max(end, presentation)
        return Placement(
            presentationTime: MediaTime(nanoseconds: presentation),
            decodeTime: MediaTime(nanoseconds: decode), beginsTimeline: false)
    }

    /// The timestamp without wraps, from the timeline's beginning; nil when it cannot be on this timeline.
    private mutating func ticks(of timestamp: UInt32, arrival: Int64) -> Int64? {
        guard timeline.drift.error <= 10 * Self.second else { return nil }
        let ticks = timeline.ticks + Int64(Int32(bitPattern: timestamp &- timeline.timestamp))
        let step = nanoseconds(ticks - timeline.order.highest)
        guard step >= 0 else { return step >= -Self.second && timeline.order.explains(ticks) ? ticks : nil }
        guard step <= 10 * Self.second else { return nil }
        if isByArrival { return nanoseconds(ticks) < Self.longestTimeline ? ticks : nil }
        // What stands too far ahead is moved.
        if timeline.isSettling(at: arrival) { return ticks }
        let ahead = timeline.time(of: nanoseconds(ticks)) - arrival
        let gap = max(0, min(10 * Self.second, arrival - timeline.arrival))
        // A step that only catches up with our clock is what a stalled connection leaves behind.
        let isJump = step > max(Self.second, 5 * gap) && ahead > Self.second / 2
        return ahead > Self.second || isJump ? nil : ticks
    }

    private func nanoseconds(_ ticks: Int64) -> Int64 {
        MediaTime(ticks: ticks, timescale: clockRate).nanoseconds
    }
}
