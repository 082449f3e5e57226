internal import FLV
public import Media
internal import Synchronization
internal import VideoCodec

/// A media file as a source: what a camera would deliver, from a recording.
///
/// H.264, H.265 and AAC are passed through untouched, from any container that libavformat reads; an FLV file is read
/// without libav. Times begin at zero, grow strictly within a track, and go on through the loops. Memory is bounded,
/// whatever the file: one packet, and a second of look-ahead that puts the tracks into one order (`Interleaver`).
public final class MediaFileSource: MediaSource {
    private let configuration: MediaFileConfiguration
    private let clock = SourceClock()
    private let isKeyFrameRequested = Atomic(false)

    public init(_ configuration: MediaFileConfiguration) {
        self.configuration = configuration
    }

    public func stop() { clock.stop() }

    /// Only a track that is transcoded can follow.
    public func requestKeyFrame() { isKeyFrameRequested.store(true, ordering: .relaxed) }

    public func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {
        var delivery = Delivery(configuration, clock: clock, deliver: deliver)
        do throws(MediaSourceError) {
            repeat {
                guard !clock.isStopped, try runPass(&delivery) else { return }
            } while configuration.isLooped
        } catch {
            // What a stop interrupted is not a failure. What came before one still goes out: the file may be a
            // recording that was cut off.
            guard !clock.isStopped, delivery.finish() else { return }
            throw error
        }
        _ = delivery.finish()
    }

    /// Reads the file once. False when the source is to end.
    private func runPass(_ delivery: inout Delivery) throws(MediaSourceError) -> Bool {
        let input = try open()
        delivery.beginPass(trackCount: input.trackCount)
        while let events = try input.next() {
            if clock.isStopped { return false }
            if isKeyFrameRequested.exchange(false, ordering: .relaxed) { input.requestKeyFrame() }
            for event in events {
                guard delivery.take(event) else { return false }
            }
        }
        guard delivery.unitsInPass > 0 else {
            throw MediaSourceError(
                what: "cannot play \(configuration.path)", why: "it holds no frame that can be sent",
                hint: "Check that it plays (ffprobe FILE).")
        }
        return true
    }

    private func open() throws(MediaSourceError) -> any MediaInput {
        if configuration.transcoding == nil {
            let file = try FileReader(path: configuration.path)
            if try file.read(FLVFileReader.signature.count) == FLVFileReader.signature {
                return try FLVInput(path: configuration.path)
            }
        }
        return try ContainerInput(configuration, clock: clock)
    }
}

extension MediaFileSource {
    /// From the order of the file to the receiver: times, order, limit, pace.
    private struct Delivery {
        private let configuration: MediaFileConfiguration
        private let clock: SourceClock
        private let receive: (MediaEvent) -> Void
        private let end: MediaTime?
        private var timeline = Timeline()
        private var interleaver: Interleaver?
        /// The instant of time zero; nil before the first unit.
        private var epoch: UInt64?
        private var videoFormat: VideoFormat?
        private var audioFormat: AudioFormat?
        private(set) var unitsInPass = 0

        /// Nanoseconds; a little more than a frame of AAC (23.2 ms at 44.1 kHz), so that audio causes no wake-ups between
        /// frames, and less than a frame at 30 per second.
        private static let moment: UInt64 = 24_000_000

        /// Nanoseconds. Who is further behind was suspended, and does not make up for it in a burst.
        private static let maxLag: UInt64 = 2_000_000_000

        init(
            _ configuration: MediaFileConfiguration, clock: SourceClock, deliver: @escaping (MediaEvent) -> Void
        ) {
            self.configuration = configuration
            self.clock = clock
            receive = deliver
            // A limit that is not a number does not count.
            end = configuration.durationLimit.flatMap { seconds in
                seconds.isNaN ? nil : MediaTime(nanoseconds: Int64(min(max(seconds, 0), 9e9) * 1e9))
            }
        }

        mutating func beginPass(trackCount: Int?) {
            if interleaver == nil {
                interleaver = Interleaver(trackCount: trackCount)
            } else {
                timeline.beginNextPass()
            }
            unitsInPass = 0
        }

        /// The next event in the order of the file. False when the source is to end.
        mutating func take(_ event: MediaEvent) -> Bool {
            if case .accessUnit(var unit) = event {
                unitsInPass += 1
                timeline.straighten(&unit)
                interleaver?.push(.accessUnit(unit))
            } else {
                interleaver?.push(event)
            }
            while let (formats, unit) = interleaver?.pop() {
                guard deliver(formats, unit) else { return false }
            }
            return true
        }

        /// What waits for its turn. False when the source is to end.
        mutating func finish() -> Bool {
            while let (formats, unit) = interleaver?.pop(isAtEnd: true) {
                guard deliver(formats, unit) else { return false }
            }
            return true
        }

        private mutating func deliver(_ formats: [MediaEvent], _ unit: AccessUnit) -> Bool {
            var unit = unit
            timeline.place(&unit)
            if let end, unit.decodeTime >= end { return false }
            for format in formats where isNew(format) { receive(format) }
            guard waitUntilDue(unit) else { return false }
            unit.captureInstant = SourceClock.now
            receive(.accessUnit(unit))
            return true
        }

        private mutating func waitUntilDue(_ unit: AccessUnit) -> Bool {
            guard configuration.pace == .realTime else { return !clock.isStopped }
            let now = SourceClock.now
            let time = UInt64(clamping: unit.decodeTime.nanoseconds)
            var epoch = self.epoch ?? now &- time
            if now > epoch &+ time &+ Self.maxLag { epoch = now &- time }
            self.epoch = epoch
            // What is due within a moment goes along: fewer wake-ups, here and everywhere downstream.
            let due = epoch &+ time
            return due <= now &+ Self.moment ? !clock.isStopped : clock.wait(until: due)
        }

        /// A format goes out when it differs from the last one: a loop does not repeat it.
        private mutating func isNew(_ event: MediaEvent) -> Bool {
            switch event {
            case .videoFormat(let format):
                defer { videoFormat = format }
                return format != videoFormat
            case .audioFormat(let format):
                defer { audioFormat = format }
                return format != audioFormat
            case .accessUnit: return true
            }
        }
    }
}
