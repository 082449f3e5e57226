internal import CameraModel
internal import Logging
internal import Media
internal import Platform
internal import RTP
internal import VideoCodec

/// What a `FrameTranscoder` does with one frame after the other. Used by its thread.
final class FrameEncoding {
    /// What other threads request.
    struct Requests: Equatable, Sendable {
        var transcoding: CameraConfiguration.Network.Transcoding
        var isKeyFrameRequested = false
    }

    var shown = FrameTranscoder.Shown()

    /// What is done for frames of one size.
    private struct Plan {
        var source: FrameDimensions
        var encoder: EncoderPlan
        /// Nanoseconds between two frames that are encoded; nil: all are.
        var interval: UInt64?
    }

    private let program: DecoderProgram
    private let logger: Logger
    private let isStopped: () -> Bool
    private let deliver: (MediaEvent) -> Void

    private var plan: Plan?
    private var encoder: VideoEncoder?
    private var decoder: FrameDecoder?
    private var supervision = DecoderSupervision()
    private var memory = EncoderCache(bootID: EncoderCache.currentBootID)
    private var transcoding: CameraConfiguration.Network.Transcoding?
    private var due: UInt64 = 0
    /// When another size may be planned for. Each costs an encoder and a decoder's child.
    private var sizes = DecoderSupervision()
    /// An encoder was found: what comes later is a matter of one frame, not of this machine.
    private var hasPlanned = false
    private var isKeyFrameRequested = false

    static let encoders = ["libx264", "libopenh264"]

    init(
        _ program: DecoderProgram, logger: Logger, isStopped: @escaping () -> Bool,
        deliver: @escaping (MediaEvent) -> Void
    ) {
        self.program = program
        self.logger = logger
        self.isStopped = isStopped
        self.deliver = deliver
    }

    /// - Throws: when there is no encoder, or it fails; a frame that cannot be read is counted and left out.
    func process(_ frame: DecodingQueue.Entry, _ requests: Requests) throws(VideoCodecError) {
        defer { report() }
        // A wish outlives the frames that are damaged or left out.
        isKeyFrameRequested = isKeyFrameRequested || requests.isKeyFrameRequested
        guard let size = Self.size(frame.jpeg), let plan = try plan(for: frame, size, requests.transcoding) else {
            shown.damaged &+= 1
            return
        }
        try apply(requests)
        guard isDue(frame, plan) else { return }
        // While none may be started, a camera's frames are lost; it is asked for nothing, they come by themselves.
        guard let decoder = opened(plan) else {
            shown.damaged &+= 1
            return
        }
        let decoded: VideoFrame
        do throws(DecoderFault) {
            decoded = try decoder.decode(frame.jpeg)
        } catch {
            shown.damaged &+= 1
            if case .lost(let reason) = error { lost(reason) }
            return
        }
        guard let encoder else { return }
        for event in try encoder.encode(decoded, at: frame.time, captureInstant: frame.arrival) { deliver(event) }
        let done = Clocks.monotonic
        shown.latency = done > frame.arrival ? done - frame.arrival : 0
    }

    private static func size(_ jpeg: [UInt8]) -> FrameDimensions? {
        try? jpeg.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in
            // Before an encoder is looked for: its frames would take the memory of this process.
            try FrameDecoder.check(jpeg)
            let header = try JPEGHeader(bytes)
            return FrameDimensions(width: header.width, height: header.height)
        }
    }

    /// The camera sends no JPEG any more: nothing is held for it. How often decoders fell over is kept.
    func rest() {
        encoder = nil
        decoder = nil
        plan = nil
        report()
    }

    // MARK: - Encoder

    /// What is done for this frame. Of another size, it must be one that can be decoded, and sizes must change
    /// seldom: else frames are scaled to the size before.
    ///
    /// - Returns: nil: nothing can be done for now.
    /// - Throws: when there is no encoder at all.
    private func plan(
        for frame: DecodingQueue.Entry, _ size: FrameDimensions,
        _ transcoding: CameraConfiguration.Network.Transcoding
    ) throws(VideoCodecError) -> Plan? {
        if let plan, plan.source == size { return plan }
        let now = Clocks.monotonic
        guard sizes.mayStart(at: now) else { return plan }
        if let plan, !isDecodable(frame.jpeg, plan) { return plan }
        if hasPlanned {
            sizes.ended("", at: now)
            sizes.started(at: now)
        }
        do throws(VideoCodecError) {
            let made = try planned(size, rate: frame.rate, transcoding)
            hasPlanned = true
            return made
        } catch {
            guard hasPlanned else { throw error }
            logger.warning("the camera's frames of \(size.width)x\(size.height) cannot be encoded: \(error)")
            return plan
        }
    }

    private func isDecodable(_ jpeg: [UInt8], _ plan: Plan) -> Bool {
        guard let decoder = opened(plan) else { return false }
        do throws(DecoderFault) {
            return try decoder.decode(jpeg).width > 0
        } catch {
            if case .lost(let reason) = error { lost(reason) }
            return false
        }
    }

    private func planned(
        _ source: FrameDimensions, rate: Double, _ transcoding: CameraConfiguration.Network.Transcoding
    ) throws(VideoCodecError) -> Plan {
        // Chroma has half the size.
        let request = EncoderRequest(
            encoders: Self.encoders, width: max(source.width & ~1, 16), height: max(source.height & ~1, 16), rate: rate,
            bitsPerSecond: transcoding.bitrate)
        let chosen = try EncoderSelector.select(
            request, hardwareNodes: [], now: EncoderCache.now, memory: &memory,
            probe: { name, _, _, _ in EncoderProbeResult(encoder: name, works: false, reason: "no hardware here") },
            measure: { trial throws(VideoCodecError) in try trial.run() })
        // The old one's memory first.
        plan = nil
        encoder = nil
        decoder = nil
        encoder = try VideoEncoder(
            chosen.configuration(
                bitsPerSecond: transcoding.bitrate, keyFrameInterval: transcoding.gopSeconds))
        self.transcoding = transcoding
        let made = Plan(
            source: source, encoder: chosen, interval: chosen.rate < rate ? UInt64(1e9 / max(chosen.rate, 0.1)) : nil)
        plan = made
        due = 0
        return made
    }

    private func apply(_ requests: Requests) throws(VideoCodecError) {
        guard let encoder else { return }
        if isKeyFrameRequested { encoder.requestKeyFrame() }
        isKeyFrameRequested = false
        guard requests.transcoding != transcoding else { return }
        transcoding = requests.transcoding
        var configuration = encoder.configuration
        configuration.bitsPerSecond = requests.transcoding.bitrate
        configuration.keyFrameInterval = requests.transcoding.gopSeconds
        do throws(VideoCodecError) {
            try encoder.reconfigure(configuration)
        } catch {
            logger.warning("the encoder cannot be changed like that: \(error)")
        }
    }

    /// Where this machine does not hold the camera's rate, frames are left out evenly before they are decoded.
    private func isDue(_ frame: DecodingQueue.Entry, _ plan: Plan) -> Bool {
        guard let interval = plan.interval else { return true }
        let instant = UInt64(max(0, frame.time.nanoseconds))
        // Cameras are unpunctual: one that is nearly due is the one.
        guard instant &+ interval / 4 >= due else {
            shown.thinned &+= 1
            return false
        }
        due = instant > due &+ interval ? instant &+ interval : due &+ interval
        return true
    }

    // MARK: - Decoder

    private func opened(_ plan: Plan) -> FrameDecoder? {
        if let decoder { return decoder }
        let now = Clocks.monotonic
        guard supervision.mayStart(at: now) else { return nil }
        do throws(DecoderFault) {
            let decoder = try FrameDecoder(
                program, width: plan.encoder.width, height: plan.encoder.height, isStopped: isStopped)
            supervision.started(at: Clocks.monotonic)
            if let lack = SandboxShortfall.take() { logger.warning("\(lack)") }
            self.decoder = decoder
            return decoder
        } catch {
            lost("\(error)")
            return nil
        }
    }

    private func lost(_ reason: String) {
        decoder = nil
        guard !isStopped() else { return }
        supervision.ended(reason, at: Clocks.monotonic)
        logger.warning("a frame of the camera was lost with its decoder, which is started again: \(reason)")
    }

    private func report() {
        shown.encoder = encoder?.choice.encoder
        shown.reason = plan.map { "the camera sends JPEG images; \($0.encoder.reason)" }
        shown.rate = plan?.encoder.rate
        let parts = [plan?.encoder.limit, supervision.text].compactMap { $0 }
        shown.limit = parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
