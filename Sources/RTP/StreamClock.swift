public import Media

/// Puts the RTP timestamps of one stream on this machine's clock.
///
/// A stream's first unit stands at its arrival; durations are the camera's; the drift between the two clocks is taken
/// out slowly, at most 500 ppm, so that a camera that sends in bursts still gives even steps. A step that no stream
/// makes (backward by more than reordered pictures explain, or far forward) begins a new time line at its arrival.
///
/// A time line that begins with units that the camera had kept back is moved until the newest one stands at its arrival:
/// those before it follow each other in steps of a millisecond. Nothing stands more than a second ahead of its arrival.
public struct StreamClock: Sendable {
    public struct Placement: Equatable, Sendable {
        /// On the axis of CLOCK_MONOTONIC. Never before `decodeTime`.
        public var presentationTime: MediaTime
        /// The same axis; strictly increasing over all units, new time lines too.
        public var decodeTime: MediaTime
        /// The first unit, and each one behind a step.
        public var beginsTimeline: Bool

        public init(presentationTime: MediaTime, decodeTime: MediaTime, beginsTimeline: Bool) {
            self.presentationTime = presentationTime
            self.decodeTime = decodeTime
            self.beginsTimeline = beginsTimeline
        }
    }

    private static let second: Int64 = 1_000_000_000
    /// Between units that would have the same time.
    private static let leastStep: Int64 = 1000
    /// Between units that the camera had kept back: those of a whole group fit before the next one.
    private static let squeezedStep: Int64 = 1_000_000
    private static let stepBetweenTimelines: Int64 = 1_000_000

    private let clockRate: Int64
    private var timeline = Timeline(base: 0, timestamp: 0, arrival: 0)
    private var hasBegun = false
    private var isOver = false
    private var lastDecodeTime: Int64 = 0
    private var lastArrival: Int64 = 0
    /// The latest presentation time so far.
    private var end: Int64 = 0
    /// Units are left out until arrivals have come up to `end`.
    private var isWaiting = false

    /// Steps that began a new time line; the first one is not counted.
    public private(set) var timelines: UInt64 = 0
    /// Units for which there was no place.
    public private(set) var leftOut: UInt64 = 0

    /// - Parameter clockRate: ticks per second; less than one is taken for one.
    public init(clockRate: Int) {
        self.clockRate = Int64(max(1, clockRate))
    }

    /// How much faster the camera's clock runs than ours; nil until more than a minute of this time line was seen.
    public var driftPartsPerMillion: Double? { timeline.drift.partsPerMillion }

    /// Takes the units in the order in which they came.
    ///
    /// - Parameter arrival: CLOCK_MONOTONIC, nanoseconds.
    /// - Returns: nil when the unit has to be left out: the camera's timestamps ran so far ahead that there is no place
    ///   less than a second before its arrival. Nothing is placed again until arrivals have caught up. Behind a picture
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

    /// The next unit begins a new time line, whatever its timestamp (`CodedUnit.beginsSource`).
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
        lastDecodeTime = base
        end = base
        let time = MediaTime(nanoseconds: base)
        return Placement(presentationTime: time, decodeTime: time, beginsTimeline: true)
    }

    private mutating func placeBehind(_ ticks: Int64, _ timestamp: UInt32, arrival: Int64) -> Placement? {
        let passed = nanoseconds(ticks)
        timeline.settle(ahead: timeline.base + passed + timeline.drift.correction - arrival, arrival: arrival)
        let time = timeline.base + passed
        timeline.drift.observe(time: time, arrival: arrival, passed: nanoseconds(ticks - timeline.ticks))
        timeline.advance(to: ticks, timestamp, arrival: arrival)
        let corrected = time + timeline.drift.correction
        let isSqueezed = timeline.wasMoved && corrected <= lastDecodeTime
        let least = lastDecodeTime + (isSqueezed ? Self.squeezedStep : Self.leastStep)
        let decode = max(timeline.order.decodeTime(presentation: corrected), least)
        guard decode - arrival <= Self.second else { return leaveOut() }
        lastDecodeTime = decode
        let presentation = max(corrected, decode)
        end = max(end, presentation)
        return Placement(
            presentationTime: MediaTime(nanoseconds: presentation),
            decodeTime: MediaTime(nanoseconds: decode), beginsTimeline: false)
    }

    /// The timestamp without wraps, from the time line's beginning; nil when it cannot be on this time line.
    private mutating func ticks(of timestamp: UInt32, arrival: Int64) -> Int64? {
        guard timeline.drift.error <= 10 * Self.second else { return nil }
        let ticks = timeline.ticks + Int64(Int32(bitPattern: timestamp &- timeline.timestamp))
        let step = nanoseconds(ticks - timeline.order.highest)
        guard step >= 0 else { return step >= -Self.second && timeline.order.explains(ticks) ? ticks : nil }
        guard step <= 10 * Self.second else { return nil }
        // What stands too far ahead is moved.
        if timeline.isSettling(at: arrival) { return ticks }
        let ahead = timeline.base + nanoseconds(ticks) + timeline.drift.correction - arrival
        let gap = max(0, min(10 * Self.second, arrival - timeline.arrival))
        // A step that only catches up with our clock is what a stalled connection leaves behind.
        let isJump = step > max(Self.second, 5 * gap) && ahead > Self.second / 2
        return ahead > Self.second || isJump ? nil : ticks
    }

    private func nanoseconds(_ ticks: Int64) -> Int64 {
        MediaTime(ticks: ticks, timescale: clockRate).nanoseconds
    }
}
