public import Media
internal import Synchronization

/// What a `TestPatternSource` makes.
public struct TestPatternConfiguration: Equatable, Sendable {
    public var video: VideoEncoderConfiguration
    /// Nil for a stream without audio.
    public var audio: AudioEncoderConfiguration?
    /// Ends after this many frames, those that were left out for lateness counted.
    public var frameLimit: Int?
    /// Ends after this many seconds of the stream's time.
    public var durationLimit: Double?
    /// Delivers nothing more after so many seconds of the stream's time, and does not end either: as a driver that
    /// hangs.
    public var stallsAfter: Double?
    /// Each unit when it is due; otherwise as fast as the encoder goes.
    public var isRealTime = true

    public init(
        video: VideoEncoderConfiguration = VideoEncoderConfiguration(
            width: 1280, height: 720, frameRate: 30, bitsPerSecond: 2_000_000),
        audio: AudioEncoderConfiguration? = AudioEncoderConfiguration(channels: 2, bitsPerSecond: 128_000)
    ) {
        self.video = video
        self.audio = audio
    }
}

/// A camera that needs no camera: a moving frame with the time of day in it, and a tone, encoded as a camera's are.
///
/// Both tracks have a common zero. The first unit's decode time is 0; it is the audio's, whose encoder needs a frame
/// in front (`AudioEncoder.delay`), and the first frame follows when that is over. Units come in decoding order
/// across both tracks.
public final class TestPatternSource: MediaSource {
    private let configuration: TestPatternConfiguration
    private let clock = SourceClock()
    private let isKeyFrameRequested = Atomic(false)
    /// 0: no change asked for.
    private let requestedBitsPerSecond = Atomic(0)
    private let skipped = Atomic(0)
    private let choiceInUse = Mutex<VideoEncoder.Choice?>(nil)

    public init(_ configuration: TestPatternConfiguration = TestPatternConfiguration()) {
        self.configuration = configuration
    }

    public func stop() { clock.stop() }

    public func requestKeyFrame() { isKeyFrameRequested.store(true, ordering: .relaxed) }

    /// Changes the video's rate while the source runs. From any thread; a rate that no encoder takes is ignored.
    public func setBitsPerSecond(_ bitsPerSecond: Int) {
        requestedBitsPerSecond.store(bitsPerSecond, ordering: .relaxed)
    }

    /// The encoder in use and why; nil before `run` opened one. From any thread.
    public var encoderChoice: VideoEncoder.Choice? { choiceInUse.withLock { $0 } }

    /// Frames that were left out because this machine did not keep up: as a camera drops them. From any thread.
    public var skippedFrames: Int { skipped.load(ordering: .relaxed) }

    public func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        do throws(VideoCodecError) {
            let audio = try configuration.audio.map { configuration throws(VideoCodecError) in
                try AudioTrack(configuration)
            }
            try run(Frames(configuration.video, start: audio?.delay ?? .zero), audio, deliver)
        } catch {
            throw MediaSourceError(testPattern: error)
        }
    }

    private func run(
        _ frames: Frames, _ audio: AudioTrack?, _ deliver: (MediaEvent) -> Void
    ) throws(VideoCodecError) {
        choiceInUse.withLock { $0 = frames.choice }
        // Both formats first, where they are known: a viewer then knows of both tracks before the first unit.
        for event in frames.takeFormat() { deliver(event) }
        if let format = audio?.format { deliver(.audioFormat(format)) }
        // The first audio is encoded before the clock starts, so that it is on time.
        _ = try audio?.peek()
        let epoch = SourceClock.now
        let stall = configuration.stallsAfter.map { MediaTime(seconds: $0) + frames.start }
        let end = configuration.durationLimit.map { MediaTime(seconds: $0) + frames.start }
        // Never twice without a frame in between: where audio takes longer than it lasts, each frame is late.
        var hasSkipped = false
        while !clock.isStopped {
            let time = frames.nextTime
            let isLastFrameDone = configuration.frameLimit.map { frames.number >= $0 } ?? false
            if isLastFrameDone || end.map({ time >= $0 }) ?? false { break }
            if let stall, time >= stall {
                while clock.wait(until: SourceClock.now &+ 3_600_000_000_000) {}
                return
            }
            if let unit = try audio?.peek(), unit.decodeTime <= time {
                guard waitUntilDue(unit.decodeTime, since: epoch) else { return }
                if let unit = audio?.take(instant: SourceClock.now) { deliver(.accessUnit(unit)) }
                continue
            }
            guard waitUntilDue(time, since: epoch) else { return }
            if configuration.isRealTime, !hasSkipped {
                let late = MediaTime(nanoseconds: Int64(clamping: SourceClock.now &- epoch)) - time
                let count = frames.skip(late)
                if count > 0 {
                    skipped.add(count, ordering: .relaxed)
                    hasSkipped = true
                    continue
                }
            }
            if isKeyFrameRequested.exchange(false, ordering: .relaxed) { frames.requestKeyFrame() }
            let rate = requestedBitsPerSecond.exchange(0, ordering: .relaxed)
            if rate != 0 { frames.setBitsPerSecond(rate) }
            for event in try frames.encodeNext() { deliver(event) }
            hasSkipped = false
        }
        for event in try frames.finish() { deliver(event) }
    }

    private func waitUntilDue(_ time: MediaTime, since epoch: UInt64) -> Bool {
        guard configuration.isRealTime else { return !clock.isStopped }
        return clock.wait(until: epoch &+ UInt64(clamping: time.nanoseconds))
    }
}

extension TestPatternSource {
    /// The moving half: paints and encodes frame after frame.
    private final class Frames {
        let start: MediaTime
        private(set) var number = 0
        private let configuration: VideoEncoderConfiguration
        private let encoder: VideoEncoder
        private var painter: TestPatternPainter
        private var frame: VideoFrame
        private var deliveredFormat: VideoFormat?

        init(_ configuration: VideoEncoderConfiguration, start: MediaTime) throws(VideoCodecError) {
            var configuration = configuration
            configuration.pixelFormat = .yuv420p
            self.configuration = configuration
            self.start = start
            let (width, height) = (configuration.width, configuration.height)
            encoder = try VideoEncoder(configuration)
            painter = try TestPatternPainter(width: width, height: height)
            frame = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p)
        }

        var choice: VideoEncoder.Choice { encoder.choice }

        /// From the number, not by adding up, so that nothing drifts.
        var nextTime: MediaTime { start + offset }

        private var offset: MediaTime {
            let rate = configuration.frameRateFraction
            return MediaTime(
                ticks: Int64(clamping: number).multipliedReportingOverflow(by: Int64(rate.denominator)).partialValue,
                timescale: Int64(rate.numerator))
        }

        /// Leaves out the frames whose time has passed, but for small delays, which even out. A second of them at most: there
        /// is audio in between, and a machine that is too slow for that would come to no frame.
        ///
        /// - Returns: how many.
        func skip(_ late: MediaTime) -> Int {
            let rate = configuration.frameRateFraction
            let period = MediaTime(ticks: Int64(rate.denominator), timescale: Int64(rate.numerator))
            guard late > period + period, late > Self.toleratedDelay else { return 0 }
            let longest = max(period.nanoseconds, 1_000_000_000)
            let count = Int(min(late.nanoseconds, longest) / max(period.nanoseconds, 1))
            number += count
            return count
        }

        private static let toleratedDelay = MediaTime(milliseconds: 150)

        func takeFormat() -> [MediaEvent] {
            guard let format = encoder.format, format != deliveredFormat else { return [] }
            deliveredFormat = format
            return [.videoFormat(format)]
        }

        func requestKeyFrame() { encoder.requestKeyFrame() }

        func setBitsPerSecond(_ rate: Int) {
            // A rate out of range is refused as a whole; the old one stays.
            try? encoder.setBitsPerSecond(rate)
        }

        func encodeNext() throws(VideoCodecError) -> [MediaEvent] {
            let instant = SourceClock.now
            try frame.makeWritable()
            let sinceSecond = offset.nanoseconds % 1_000_000_000
            painter.draw(
                into: &frame, number: number, clock: timeOfDay(),
                isFlashing: Double(sinceSecond) < TestTone.beepSeconds * 1e9)
            let events = try encoder.encode(frame, at: nextTime, captureInstant: instant)
            number += 1
            return withoutKnownFormat(events)
        }

        func finish() throws(VideoCodecError) -> [MediaEvent] {
            withoutKnownFormat(try encoder.finish())
        }

        private func withoutKnownFormat(_ events: [MediaEvent]) -> [MediaEvent] {
            events.filter { event in
                guard case .videoFormat(let format) = event else { return true }
                defer { deliveredFormat = format }
                return format != deliveredFormat
            }
        }
    }

    /// The sounding half. What it makes is known in advance, so a unit is encoded before it is due.
    private final class AudioTrack {
        let delay: MediaTime
        let format: AudioFormat
        private let encoder: AudioEncoder
        private let tone: TestTone
        private var position: Int64 = 0
        private var ready: [AccessUnit] = []

        init(_ configuration: AudioEncoderConfiguration) throws(VideoCodecError) {
            encoder = try AudioEncoder(configuration)
            tone = TestTone(sampleRate: configuration.sampleRate)
            delay = encoder.delay
            format = encoder.format
        }

        /// The next unit, its times on the source's timeline.
        func peek() throws(VideoCodecError) -> AccessUnit? {
            var attempts = 0
            while ready.isEmpty, attempts < 16 {
                let samples = tone.samples(
                    from: position, count: encoder.samplesPerFrame, channels: encoder.configuration.channels)
                let time = MediaTime(ticks: position, timescale: Int64(encoder.configuration.sampleRate))
                ready += try encoder.encode(samples, at: time + delay)
                position += Int64(encoder.samplesPerFrame)
                attempts += 1
            }
            return ready.first
        }

        func take(instant: UInt64) -> AccessUnit {
            var unit = ready.removeFirst()
            unit.captureInstant = instant
            return unit
        }
    }
}

extension MediaTime {
    /// Saturates at the ends of the range.
    init(seconds: Double) {
        self.init(nanoseconds: Int64((seconds * 1e9).clamped(to: -9.2e18...9.2e18)))
    }
}

extension MediaSourceError {
    init(testPattern error: VideoCodecError) {
        let hint =
            switch error {
            case .libraryMissing: "Then start again."
            case .noEncoder: "Install a libavcodec with libx264 or libopenh264 (Debian's has libx264)."
            case .invalid: "Choose another value."
            case .failed, .noDecoder, .frameMismatch, .malformedOutput, .malformedFrame, .frameFailed,
                .unsupportedFrame,
                .invalidMask:
                "Try another encoder, or report this."
            }
        self.init(what: "cannot make the test pattern", why: "\(error)", hint: hint)
    }
}
