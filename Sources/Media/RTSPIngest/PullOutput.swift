internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Media
internal import Platform
internal import RTP
internal import Synchronization
internal import VideoCodec

/// From a camera's units to the events of the source, over all attempts: one timeline, formats when they change, and
/// what has to be encoded again. Used by the source's thread.
final class PullOutput {
    private let durationLimit: Double?
    private let state: SharedState
    private let logger: Logger
    private let delivery: Delivery
    private let program: DecoderProgram

    private var timeline = MediaTimeline()
    private let frames: FrameTranscoder
    private var audio: AudioTranscoder?
    /// What `audio` was made for.
    private var audioChoice: MediaChoice?
    private var childAudio: ChildAudio?
    private var audioReason: String?
    /// How decoders of audio fared, whatever they decoded.
    private var audioSupervision = DecoderSupervision()
    private var transcoding: CameraConfiguration.Network.Transcoding

    private var connectBegan: UInt64 = 0
    private var playBegan: UInt64?
    private var hasKeyFrame = false
    /// The newest frame that a viewer can begin with is a recovery point.
    private var hasIntraRefresh = false
    private var captured: UInt64 = 0
    private var rate = RateMeter()
    private var latency: UInt64?
    private var codec: MediaChoice.Kind?
    private var selection: MediaSelection?
    private var firstKeyFrame: Double?
    private var playToKeyFrame: Double?

    private var isLimitReached = false

    init(
        transcoding: CameraConfiguration.Network.Transcoding, durationLimit: Double?, state: SharedState,
        program: DecoderProgram, logger: Logger, deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.transcoding = transcoding
        self.durationLimit = durationLimit
        self.state = state
        self.logger = logger
        self.program = program
        let delivery = Delivery(deliver)
        self.delivery = delivery
        frames = FrameTranscoder(transcoding, program: program, logger: logger, failed: { state.wakeup.signal() }) {
            delivery.deliver($0, of: .encoder)
        }
    }

    var damaged: UInt64 { frames.shown.damaged }
    /// Enough has come, or no more can come.
    var isOver: Bool { isLimitReached || frames.hasFailed }

    /// Why there can be no more frames: no encoder works.
    var failure: MediaSourceError? {
        guard let reason = frames.shown.failure else { return nil }
        return MediaSourceError(
            what: "the camera's JPEG images cannot be made into H.264", why: reason,
            hint: "Choose H.264 or H.265 in the camera's own settings; Debian's libavcodec has libx264 for JPEG")
    }

    /// Nothing is delivered any more.
    func end() {
        delivery.end()
        frames.stop()
        childAudio?.stop()
    }

    // MARK: - An attempt's begin

    func began(at now: UInt64) {
        connectBegan = now
        playBegan = nil
        hasKeyFrame = false
    }

    func described(_ selection: MediaSelection) {
        self.selection = selection
        audioReason = selection.audioReason
        if let childAudio, childAudio.coding != selection.audio?.coding { endChildAudio() }
    }

    func playing(at now: UInt64) { playBegan = now }

    /// What other threads request of the encoder, or of the camera.
    func applyRequests(_ synchronize: () -> Void) {
        let (requested, isKeyFrameRequested) = state.requests.withLock { requests in
            defer { requests.isKeyFrameRequested = false }
            return (requests.transcoding, requests.isKeyFrameRequested)
        }
        if isKeyFrameRequested {
            if codec == .mjpeg { frames.requestKeyFrame() } else { synchronize() }
        }
        guard requested != transcoding else { return }
        transcoding = requested
        frames.use(requested)
    }

    // MARK: - Units

    func took(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        guard !isOver else { return }
        if choice.kind.isVideo {
            frame(choice, unit, at: now)
        } else {
            heard(choice, unit, at: now)
        }
    }

    private func frame(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        let encoded = unit.encoded
        let times = timeline.video(
            presentation: unit.placement.presentationTime, decode: unit.placement.decodeTime)
        if let durationLimit, Double(times.presentation.nanoseconds) / 1e9 >= durationLimit {
            isLimitReached = true
            return
        }
        if codec == .mjpeg, choice.kind != .mjpeg { frames.rest() }
        codec = choice.kind
        captured &+= 1
        rate.took(times.decode)
        if encoded.isKeyFrame { hasIntraRefresh = encoded.isRecoveryPoint }
        if encoded.isKeyFrame, !hasKeyFrame {
            hasKeyFrame = true
            firstKeyFrame = Double(now &- connectBegan) / 1e6
            playToKeyFrame = playBegan.map { Double(now &- $0) / 1e6 }
        }
        delivery.takeVideo(of: choice.kind == .mjpeg ? .encoder : .camera)
        if choice.kind == .mjpeg {
            frames.add(encoded.data, at: times.presentation, rate: choice.frameRate, arrival: encoded.arrival)
            return
        }
        if var found = encoded.format {
            found.frameRate = found.frameRate ?? choice.frameRate
            delivery.deliver(.videoFormat(found), of: .camera)
        }
        guard let format = delivery.video else { return }
        delivery.deliver(
            .accessUnit(
                AccessUnit(
                    track: .video(format.codec), isKeyFrame: encoded.isKeyFrame,
                    presentationTime: times.presentation, decodeTime: times.decode, data: encoded.data,
                    captureInstant: encoded.arrival)), of: .camera)
        let done = Clocks.monotonic
        latency = done > encoded.arrival ? done - encoded.arrival : 0
    }

    private func heard(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        // Before the first frame there is nothing to hear.
        guard hasKeyFrame || delivery.video != nil, let time = timeline.audio(unit.placement.presentationTime) else {
            return
        }
        let encoded = unit.encoded
        switch choice.kind {
        case .aac:
            guard let format = choice.audioFormat else { return }
            delivery.deliver(.audioFormat(format))
            delivery.deliver(
                .accessUnit(
                    AccessUnit(
                        track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
                        data: encoded.data, captureInstant: encoded.arrival)))
        case .pcmu, .pcma:
            do throws(VideoCodecError) {
                let coder = try transcoder(choice)
                let units = try coder.encode(
                    encoded.data, isALaw: choice.kind == .pcma, at: time, captureInstant: encoded.arrival)
                if !units.isEmpty { delivery.deliver(.audioFormat(coder.format)) }
                for unit in units { delivery.deliver(.accessUnit(unit)) }
            } catch {
                if audioReason == nil { logger.warning("the camera's audio cannot be made into AAC: \(error)") }
                audioReason = "it cannot be made into AAC: \(error)"
            }
        case .opus, .g726:
            guard let coding = choice.coding else { return }
            child(for: coding).add(encoded.data, at: time, arrival: encoded.arrival)
        case .h264, .hevc, .mjpeg: break
        }
    }

    private func transcoder(_ choice: MediaChoice) throws(VideoCodecError) -> AudioTranscoder {
        if let audio, audioChoice == choice { return audio }
        let made = try AudioTranscoder(inputRate: choice.clockRate, channels: choice.channels)
        audio = made
        audioChoice = choice
        return made
    }

    private func child(for coding: AudioEncoding) -> ChildAudio {
        if let childAudio, childAudio.coding == coding { return childAudio }
        endChildAudio()
        let generation = delivery.takeAudio()
        let made = ChildAudio(coding, program: program, supervision: audioSupervision, logger: logger) { [delivery] in
            delivery.deliver($0, audioGeneration: generation)
        }
        childAudio = made
        return made
    }

    private func endChildAudio() {
        guard let ended = childAudio else { return }
        ended.stop()
        audioSupervision = ended.supervision
        childAudio = nil
        _ = delivery.takeAudio()
    }

    // MARK: - Statistics

    func publish() {
        let rate = rate.framesPerSecond
        let format = delivery.video
        let shown = frames.shown
        let noAudio = audioReason ?? (selection?.audio?.coding == nil ? nil : childAudio?.reason)
        state.change { statistics, network in
            statistics.captured = captured
            statistics.device = network.address
            statistics.card = network.server
            statistics.captureRate = rate ?? format?.frameRate
            statistics.rate = statistics.captureRate
            statistics.width = format?.width
            statistics.height = format?.height
            statistics.captureWidth = format?.width
            statistics.captureHeight = format?.height
            statistics.latencyNanoseconds = latency
            network.firstKeyFrameMilliseconds = firstKeyFrame
            network.playToKeyFrameMilliseconds = playToKeyFrame
            guard let codec else { return }
            network.videoCodec = codec.rawValue
            network.audioCodec = selection?.audio?.kind.rawValue
            statistics.pixelFormat = codec.rawValue.uppercased()
            statistics.audio = noAudio == nil ? selection?.audio?.kind.rawValue : nil
            statistics.audioReason = noAudio
            if codec == .mjpeg {
                statistics.encoder = shown.encoder
                statistics.encoderReason = shown.reason
                statistics.isHardwareEncoder = false
                if let limit = shown.limit { statistics.limit = limit }
                statistics.superseded = shown.superseded
                statistics.thinned = shown.thinned
                statistics.latencyNanoseconds = shown.latency
                if let held = shown.rate, let rate = statistics.rate { statistics.rate = min(held, rate) }
                if shown.failure != nil { statistics.code = .noEncoder }
            } else {
                statistics.encoder = "passthrough"
                statistics.encoderReason =
                    "the camera encodes \(codec.rawValue) itself"
                    + (hasIntraRefresh ? ", without key frames (intra refresh): viewers begin at recovery points" : "")
                statistics.isHardwareEncoder = nil
            }
        }
    }
}

/// Frames per second, over the last few seconds of the stream's own time.
struct RateMeter: Equatable, Sendable {
    private var times: [MediaTime] = []
    private static let window = 64

    mutating func took(_ time: MediaTime) {
        times.append(time)
        if times.count > 2 * Self.window { times.removeFirst(Self.window) }
    }

    /// Nil before the second frame.
    var framesPerSecond: Double? {
        guard let first = times.first, let last = times.last, last > first else { return nil }
        let rate = Double(times.count - 1) / (Double((last - first).nanoseconds) / 1e9)
        return (rate * 10).rounded() / 10
    }
}
