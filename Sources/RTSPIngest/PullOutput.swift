internal import CameraModel
internal import ErrorCatalog
internal import Logging
internal import Media
internal import RTP
internal import Synchronization
internal import VideoCodec

/// From a camera's units to the events of the source, over all attempts: one time line, formats when they change, and what
/// has to be coded anew. Used by the source's thread.
final class PullOutput {
    private let durationLimit: Double?
    private let state: SharedState
    private let logger: Logger
    private let deliver: @Sendable (MediaEvent) -> Void

    private var timeline = MediaTimeline()
    private var format: VideoFormat?
    private var audioFormat: AudioFormat?
    private var pictures: PictureTranscoder
    private var sound: SoundTranscoder?
    private var soundReason: String?
    private var transcoding: CameraConfiguration.Network.Transcoding

    private var connectBegan: UInt64 = 0
    private var playBegan: UInt64?
    private var hasKeyFrame = false
    /// The newest picture that a viewer can begin with is a recovery point.
    private var hasIntraRefresh = false
    private var captured: UInt64 = 0
    private var rate = RateMeter()
    private var latency: UInt64?
    private var codec: MediaChoice.Kind?
    private var selection: MediaSelection?
    private var firstKeyFrame: Double?
    private var playToKeyFrame: Double?

    private(set) var isOver = false
    /// Why there can be no more pictures: no encoder works.
    private(set) var failure: MediaSourceError?

    init(
        transcoding: CameraConfiguration.Network.Transcoding, durationLimit: Double?, state: SharedState,
        logger: Logger, deliver: @escaping @Sendable (MediaEvent) -> Void
    ) {
        self.transcoding = transcoding
        self.durationLimit = durationLimit
        self.state = state
        self.logger = logger
        self.deliver = deliver
        pictures = PictureTranscoder(transcoding)
    }

    var damaged: UInt64 { pictures.damaged }

    // MARK: - An attempt's begin

    func began(at now: UInt64) {
        connectBegan = now
        playBegan = nil
        hasKeyFrame = false
    }

    func described(_ selection: MediaSelection) {
        self.selection = selection
        soundReason = selection.soundReason
    }

    func playing(at now: UInt64) { playBegan = now }

    /// What other threads want of the encoder, or of the camera.
    func applyWishes(_ synchronize: () -> Void) {
        let (wanted, isKeyFrameWanted) = state.wishes.withLock { wishes in
            defer { wishes.isKeyFrameWanted = false }
            return (wishes.transcoding, wishes.isKeyFrameWanted)
        }
        if isKeyFrameWanted {
            if codec == .mjpeg { pictures.requestKeyFrame() } else { synchronize() }
        }
        guard wanted != transcoding else { return }
        transcoding = wanted
        do throws(VideoCodecError) {
            try pictures.use(wanted)
        } catch {
            logger.warning("the encoder cannot be changed so: \(error)")
        }
    }

    // MARK: - Units

    func took(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        guard !isOver, failure == nil else { return }
        if choice.kind.isVideo {
            picture(choice, unit, at: now)
        } else {
            heard(choice, unit, at: now)
        }
    }

    private func picture(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        let coded = unit.coded
        let times = timeline.video(
            presentation: unit.placement.presentationTime, decode: unit.placement.decodeTime)
        if let durationLimit, Double(times.presentation.nanoseconds) / 1e9 >= durationLimit {
            isOver = true
            return
        }
        codec = choice.kind
        captured &+= 1
        rate.took(times.decode)
        if coded.isKeyFrame { hasIntraRefresh = coded.isRecoveryPoint }
        if coded.isKeyFrame, !hasKeyFrame {
            hasKeyFrame = true
            firstKeyFrame = Double(now &- connectBegan) / 1e6
            playToKeyFrame = playBegan.map { Double(now &- $0) / 1e6 }
        }
        if choice.kind == .mjpeg {
            transcode(coded.data, choice, times, arrival: coded.arrival)
        } else {
            if var found = coded.format {
                found.frameRate = found.frameRate ?? choice.frameRate
                change(to: found)
            }
            guard let format else { return }
            deliver(
                .accessUnit(
                    AccessUnit(
                        track: .video(format.codec), isKeyFrame: coded.isKeyFrame,
                        presentationTime: times.presentation, decodeTime: times.decode, data: coded.data,
                        captureInstant: coded.arrival)))
        }
        let done = Monotonic.now
        latency = done > coded.arrival ? done - coded.arrival : 0
    }

    private func change(to found: VideoFormat) {
        guard found != format else { return }
        format = found
        deliver(.videoFormat(found))
    }

    private func transcode(
        _ jpeg: [UInt8], _ choice: MediaChoice, _ times: MediaTimeline.Times, arrival: UInt64
    ) {
        do throws(VideoCodecError) {
            let events = try pictures.process(
                jpeg, at: times.presentation, rate: choice.frameRate, captureInstant: arrival)
            for event in events {
                if case .videoFormat(let found) = event { change(to: found) } else { deliver(event) }
            }
        } catch {
            state.change { statistics, _ in statistics.code = .noEncoder }
            failure = MediaSourceError(
                what: "the camera's JPEG pictures cannot be made into H.264", why: "\(error)",
                next: "Choose H.264 or H.265 in the camera's own settings; Debian's libavcodec has libx264 for JPEG")
        }
    }

    private func heard(_ choice: MediaChoice, _ unit: MediaTrack.Unit, at now: UInt64) {
        // Before the first picture there is nothing to hear.
        guard hasKeyFrame || format != nil, let time = timeline.audio(unit.placement.presentationTime) else { return }
        let coded = unit.coded
        switch choice.kind {
        case .aac:
            guard let format = choice.audioFormat else { return }
            change(to: format)
            deliver(
                .accessUnit(
                    AccessUnit(
                        track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
                        data: coded.data, captureInstant: coded.arrival)))
        case .pcmu, .pcma:
            do throws(VideoCodecError) {
                let coder = try transcoder()
                let units = try coder.encode(
                    coded.data, isALaw: choice.kind == .pcma, at: time, captureInstant: coded.arrival)
                if !units.isEmpty { change(to: coder.format) }
                for unit in units { deliver(.accessUnit(unit)) }
            } catch {
                if soundReason == nil { logger.warning("the camera's sound cannot be made into AAC: \(error)") }
                soundReason = "it cannot be made into AAC: \(error)"
            }
        case .h264, .hevc, .mjpeg: break
        }
    }

    private func transcoder() throws(VideoCodecError) -> SoundTranscoder {
        if let sound { return sound }
        let made = try SoundTranscoder()
        sound = made
        return made
    }

    private func change(to found: AudioFormat) {
        guard found != audioFormat else { return }
        audioFormat = found
        deliver(.audioFormat(found))
    }

    // MARK: - Statistics

    func publish() {
        let rate = rate.picturesPerSecond
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
            network.audioCodec = selection?.sound?.kind.rawValue
            statistics.pixelFormat = codec.rawValue.uppercased()
            statistics.sound = soundReason == nil ? selection?.sound?.kind.rawValue : nil
            statistics.soundReason = soundReason
            if codec == .mjpeg {
                statistics.encoder = pictures.name
                statistics.encoderReason = pictures.reason
                statistics.isHardwareEncoder = false
            } else {
                statistics.encoder = "passthrough"
                statistics.encoderReason =
                    "the camera codes \(codec.rawValue) itself"
                    + (hasIntraRefresh ? ", without key frames (intra refresh): viewers begin at recovery points" : "")
                statistics.isHardwareEncoder = nil
            }
        }
    }
}

/// Pictures per second, over the last few seconds of the stream's own time.
struct RateMeter: Equatable, Sendable {
    private var times: [MediaTime] = []
    private static let window = 64

    mutating func took(_ time: MediaTime) {
        times.append(time)
        if times.count > 2 * Self.window { times.removeFirst(Self.window) }
    }

    /// Nil before the second picture.
    var picturesPerSecond: Double? {
        guard let first = times.first, let last = times.last, last > first else { return nil }
        let rate = Double(times.count - 1) / (Double((last - first).nanoseconds) / 1e9)
        return (rate * 10).rounded() / 10
    }
}
