internal import AudioCapture
internal import CameraModel
internal import Dispatch
internal import ErrorCatalog
internal import Logging
internal import Media
internal import Platform
internal import Synchronization
internal import VideoCodec

/// The audio that goes with a camera's frames: captured, brought onto the frames' clock, and encoded, on a thread of its
/// own. An audio device that is away is waited for, and never holds the frames up.
final class AudioTrack: Sendable {
    /// AAC-LC begins this much earlier than what is heard: one frame at 48 kHz.
    static let lead = MediaTime(ticks: 1024, timescale: 48_000)
    /// Nanoseconds between two looks for a device that is away.
    private static let pause: UInt64 = 2_000_000_000

    private let name: String
    private let state: SharedState
    private let logger: Logger
    private let deliver: @Sendable (MediaEvent) -> Void
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ name: String, state: SharedState, logger: Logger, deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.name = name
        self.state = state
        self.logger = logger
        self.deliver = deliver
    }

    func start() {
        let isStarted = OwnThread.start(stackBytes: OwnThread.codingStackBytes) {
            self.run()
            self.ended.signal()
        }
        guard !isStarted else { return }
        missing("the audio of \(name) is missing: no thread can be made for it")
        ended.signal()
    }

    private func missing(_ reason: String) {
        logger.warning("\(reason)", metadata: ["code": "\(ErrorCode.audioMissing)"])
        state.statistics.withLock { statistics in
            statistics.audio = nil
            statistics.audioReason = reason
        }
    }

    /// Waits for the thread's end; `state.clock` has been stopped, or is now.
    func stop() {
        state.clock.stop()
        ended.wait()
    }

    private func run() {
        var track: EncodedTrack?
        var reported: String?
        while !state.clock.isStopped {
            do {
                try capture(&track) {
                    guard reported != nil else { return }
                    reported = nil
                    logger.notice("the audio of \(name) is there again")
                }
            } catch {
                let reason = "\(error)"
                if reason != reported {
                    reported = reason
                    missing(reason)
                }
            }
            _ = state.clock.wait(until: SourceClock.now &+ Self.pause)
        }
    }

    /// Until the source stops or the device fails.
    private func capture(_ track: inout EncodedTrack?, began: () -> Void) throws {
        let device = try AudioCapture(
            AudioCaptureConfiguration(device: name, channels: state.requested.withLock(\.device.isMono) ? 1 : 2))
        defer { device.stop() }
        let encoded: EncodedTrack
        if let track {
            encoded = track
            encoded.reopened(sampleRate: device.sampleRate, channels: device.channels)
        } else {
            encoded = try EncodedTrack(sampleRate: device.sampleRate, channels: device.channels)
            track = encoded
            deliver(.audioFormat(encoded.format))
        }
        var isReported = false
        while !state.clock.isStopped {
            guard let block = try device.read() else { continue }
            if !isReported {
                isReported = true
                began()
            }
            for unit in try encoded.units(of: block, state) { deliver(.accessUnit(unit)) }
            state.statistics.withLock { statistics in
                statistics.audio = name
                statistics.audioReason = nil
                statistics.audioDriftMilliseconds = encoded.driftMilliseconds
            }
        }
    }
}

/// Blocks of one device in, encoded frames on the stream's timeline out.
private final class EncodedTrack {
    let format: AudioFormat
    private let encoder: AudioEncoder
    private var timeline: AudioTimeline

    private static let bitsPerChannel = 64_000

    init(sampleRate: Int, channels: Int) throws(VideoCodecError) {
        encoder = try AudioEncoder(
            AudioEncoderConfiguration(channels: channels, bitsPerSecond: Self.bitsPerChannel * channels))
        format = encoder.format
        timeline = AudioTimeline(inputRate: sampleRate, channels: channels)
    }

    /// The device was away, or another one is in its place; the stream stays the one that viewers' decoders know.
    func reopened(sampleRate: Int, channels: Int) {
        timeline.reopened(inputRate: sampleRate, channels: channels)
    }

    var driftMilliseconds: Double { timeline.driftMilliseconds }

    /// What was heard before the first frame is left out.
    func units(of block: AudioBlock, _ state: SharedState) throws(VideoCodecError) -> [AccessUnit] {
        let placed = timeline.placed(block)
        guard !placed.samples.isEmpty, let time = state.time(of: placed.instant) else { return [] }
        return try encoder.encode(placed.samples, at: time, captureInstant: placed.instant)
    }
}
