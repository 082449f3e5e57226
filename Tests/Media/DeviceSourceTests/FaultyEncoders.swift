import DeviceSource
import Glibc
import Media
import Synchronization
import VideoCodec

/// A machine with a hardware encoder that is really software, fails on request, and has a clock of its own.
final class FaultyEncoders: Sendable {
    private struct State {
        /// Seconds.
        var now = 1000.0
        var probes = 0
        var measurements = 0
        /// Bits per second for which something was measured last.
        var measuredRate = 0
        var probeWorks = true
        var failures = 0
        /// Frames per second of every software encoder, as a trial finds it.
        var speed = 1000.0
    }

    private let state = Mutex(State())

    var probes: Int { state.withLock { $0.probes } }
    var measurements: Int { state.withLock { $0.measurements } }
    var measuredRate: Int { state.withLock { $0.measuredRate } }

    func pass(_ seconds: Double) { state.withLock { $0.now += seconds } }
    func failNext() { state.withLock { $0.failures += 1 } }
    func setProbe(works: Bool) { state.withLock { $0.probeWorks = works } }
    func setSpeed(_ speed: Double) { state.withLock { $0.speed = speed } }

    /// Whether this frame is to be an error.
    fileprivate func fails() -> Bool {
        state.withLock { state in
            guard state.failures > 0 else { return false }
            state.failures -= 1
            return true
        }
    }

    var machine: EncoderMachine {
        var machine = EncoderMachine()
        machine.now = { self.state.withLock { $0.now } }
        machine.probe = { encoder, _, _, _ in
            self.state.withLock { state in
                state.probes += 1
                return EncoderProbeResult(
                    encoder: encoder, works: state.probeWorks, reason: state.probeWorks ? "30 frames" : "no frame")
            }
        }
        machine.measure = { configuration throws(VideoCodecError) in
            self.state.withLock { state in
                state.measurements += 1
                state.measuredRate = configuration.bitsPerSecond
                return state.speed
            }
        }
        machine.open = { configuration, heartbeat throws(VideoCodecError) in
            guard configuration.encoders == ["h264_v4l2m2m"] else {
                return try VideoEncoder(configuration, heartbeat: heartbeat)
            }
            return try FaultyFrameEncoder(configuration, heartbeat, self)
        }
        return machine
    }
}

/// libx264 in the place of hardware.
private final class FaultyFrameEncoder: FrameEncoder {
    private let encoder: VideoEncoder
    private let owner: FaultyEncoders

    init(
        _ configuration: VideoEncoderConfiguration, _ heartbeat: EncoderHeartbeat, _ owner: FaultyEncoders
    ) throws(VideoCodecError) {
        encoder = try VideoEncoder(Self.software(configuration), heartbeat: heartbeat)
        self.owner = owner
    }

    private static func software(_ configuration: VideoEncoderConfiguration) -> VideoEncoderConfiguration {
        var configuration = configuration
        configuration.encoders = ["libx264"]
        return configuration
    }

    var lineAlignment: Int { encoder.lineAlignment }
    var acceptedPixelFormats: [PixelFormat] { [.yuv420p] }
    var counters: EncoderCounters { encoder.counters }
    var encodeNanoseconds: EncoderTime { encoder.encodeNanoseconds }

    func encode(
        _ frame: borrowing VideoFrame, at presentationTime: MediaTime, captureInstant: UInt64?
    ) throws(VideoCodecError) -> [MediaEvent] {
        guard !owner.fails() else {
            throw .failed(call: "avcodec_send_frame", code: -EIO, message: "Input/output error")
        }
        return try encoder.encode(frame, at: presentationTime, captureInstant: captureInstant)
    }

    func reconfigure(_ configuration: VideoEncoderConfiguration) throws(VideoCodecError) {
        try encoder.reconfigure(Self.software(configuration))
    }

    func requestKeyFrame() { encoder.requestKeyFrame() }
    func finish() throws(VideoCodecError) -> [MediaEvent] { try encoder.finish() }
}
