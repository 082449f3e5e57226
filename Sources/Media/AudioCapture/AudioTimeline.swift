/// Places the blocks of one device on a timeline that is locked to CLOCK_MONOTONIC: a sample of each 48 000th of a
/// second, none missing, none twice.
///
/// An audio card's clock is not the machine's: 50 ppm are usual, 500 ppm happen, and 50 ppm are 4 s in a day. The
/// blocks' instants, which jitter by milliseconds, show how far the audio has run away; a control loop
/// (proportional-integral, critically damped, its speed 0.1 rad/s) changes the step of a resampler by so little that
/// it is inaudible, and takes the jitter out of the instants on the way. What is too far away for that is lost or
/// doubled audio: silence is put in, or samples are cut.
public struct AudioTimeline: Sendable {
    /// Audio that follows the one before without a gap, but for a jump.
    public struct Placed: Equatable, Sendable {
        /// −1…1, the channels of one instant side by side; may be empty.
        public var samples: [Float]
        /// Of the first sample, CLOCK_MONOTONIC in nanoseconds. Where it is not the end of the one before, the time
        /// line has jumped over a hole that is too long to be filled with silence.
        public var instant: UInt64
    }

    /// All counts begin with the timeline.
    public struct Counters: Equatable, Sendable {
        /// Holes that were filled with silence, and how long they were in all.
        public var gaps: UInt64 = 0
        public var silentNanoseconds: UInt64 = 0
        /// Audio that came for a time that was over, and how long it was in all.
        public var overlaps: UInt64 = 0
        public var cutNanoseconds: UInt64 = 0
        /// Holes that the timeline jumped over.
        public var jumps: UInt64 = 0
        /// Steps of the device's instants into the past, which were not followed.
        public var steps: UInt64 = 0

        public init() {}
    }

    public private(set) var counters = Counters()
    /// How far the newest block's instant was from its place, in nanoseconds; positive: it was late.
    public private(set) var error: Int64 = 0
    /// How much faster the device's clock runs than the machine's, in parts per million.
    public var driftPartsPerMillion: Double { -loop.integral * 1e6 }
    /// How far the device's clock has run ahead of the machine's since the begin, in milliseconds, had it not been
    /// corrected.
    public private(set) var driftMilliseconds = 0.0

    public private(set) var inputRate: Int
    public let outputRate: Int
    /// Of what comes out, 1 or 2.
    public let channels: Int

    private var inputChannels: Int
    private var loop = DriftLoop()
    private var placement = BlockPlacement()
    private var resampler: Resampler
    /// Of output frame 0; nil before the first block.
    private var anchor: UInt64?
    /// Frames since the anchor.
    private var written: Int64 = 0
    /// Added to the device's instants, nanoseconds.
    private var offset: Int64 = 0
    private var isReopened = false

    /// - Parameter inputRate: the device's, 4000 to 384 000 samples per second; others are brought into that range.
    /// - Parameter channels: 1 or 2.
    public init(inputRate: Int, outputRate: Int = 48_000, channels: Int) {
        self.inputRate = min(max(inputRate, 4_000), 384_000)
        self.outputRate = min(max(outputRate, 4_000), 384_000)
        self.channels = min(max(channels, 1), 2)
        inputChannels = self.channels
        resampler = Resampler(inputRate: self.inputRate, outputRate: self.outputRate, channels: self.channels)
    }

    /// The device was opened again, or is another one: what comes out goes on as it was, and the hole between the two
    /// is treated as any other.
    ///
    /// - Parameter channels: of the blocks from now on; one becomes two, or two become one.
    public mutating func reopened(inputRate: Int, channels: Int) {
        self.inputRate = min(max(inputRate, 4_000), 384_000)
        inputChannels = min(max(channels, 1), 2)
        resampler = Resampler(inputRate: self.inputRate, outputRate: outputRate, channels: self.channels)
        loop = DriftLoop()
        placement = BlockPlacement()
        isReopened = true
    }

    /// Takes the device's next block, and gives the audio that is complete with it: all but the last 16 samples, which
    /// need what follows them.
    public mutating func placed(_ block: AudioBlock) -> Placed {
        let samples = adapted(block.samples)
        let count = samples.count / channels
        let isAfterRestart = block.isAfterRestart || isReopened
        isReopened = false
        guard let anchor else {
            self.anchor = block.instant
            return emit(samples[...], count: count)
        }
        let expected = Self.sum(
            anchor, Self.nanoseconds(written, rate: outputRate) &+ Self.nanoseconds(resampler.ahead, rate: inputRate))
        var error = Self.difference(block.instant, expected)
        error = error.addingReportingOverflow(offset).overflow ? error : error + offset
        self.error = error
        switch placement.classify(error: error, isAfterRestart: isAfterRestart) {
        case .regular:
            loop.update(error: Double(error) / 1e9, seconds: Double(count) / Double(inputRate))
            return emit(samples[...], count: count)
        case .gap:
            counters.gaps += 1
            counters.silentNanoseconds += UInt64(error)
            resampler.appendSilence(Self.frames(error, rate: inputRate))
            return emit(samples[...], count: count)
        case .overlap:
            let cut = min(Self.frames(-error, rate: inputRate), count)
            counters.overlaps += 1
            counters.cutNanoseconds += UInt64(Self.nanoseconds(Double(cut), rate: inputRate))
            return emit(samples[(cut * channels)...], count: count - cut)
        case .jump:
            counters.jumps += 1
            self.anchor = Self.sum(block.instant, offset)
            written = 0
            resampler.restart()
            return emit(samples[...], count: count)
        case .step:
            counters.steps += 1
            offset = offset.subtractingReportingOverflow(error).partialValue
            return emit(samples[...], count: count)
        }
    }

    /// With as many channels as come out.
    private func adapted(_ samples: [Float]) -> [Float] {
        if inputChannels == channels { return samples }
        if channels == 2 { return samples.flatMap { [$0, $0] } }
        return (0..<(samples.count / 2)).map { (pair: Int) -> Float in
            (samples[2 * pair] + samples[2 * pair + 1]) / 2
        }
    }

    private mutating func emit(_ samples: ArraySlice<Float>, count: Int) -> Placed {
        let start = Self.sum(anchor ?? 0, Self.nanoseconds(written, rate: outputRate))
        resampler.append(samples, frames: count)
        let made = resampler.take(correction: loop.correction)
        let frames = made.count / channels
        written += Int64(frames)
        driftMilliseconds -= loop.correction * Double(frames) / Double(outputRate) * 1000
        return Placed(samples: made, instant: start)
    }

    // MARK: arithmetic that no instant can make overflow

    private static func nanoseconds(_ frames: Int64, rate: Int) -> Int64 {
        let (seconds, rest) = frames.quotientAndRemainder(dividingBy: Int64(rate))
        return seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / Int64(rate)
    }

    private static func nanoseconds(_ frames: Double, rate: Int) -> Int64 {
        Int64((frames / Double(rate) * 1e9).rounded())
    }

    private static func frames(_ nanoseconds: Int64, rate: Int) -> Int {
        Int((Double(nanoseconds) / 1e9 * Double(rate)).rounded())
    }

    private static func sum(_ instant: UInt64, _ distance: Int64) -> UInt64 {
        instant &+ UInt64(bitPattern: distance)
    }

    private static func difference(_ left: UInt64, _ right: UInt64) -> Int64 {
        left >= right ? Int64(clamping: left - right) : -Int64(clamping: right - left)
    }
}
