internal import CAVCodec
public import Media

/// Turns pictures into coded access units with the first of a list of libavcodec encoders that opens here.
///
/// The coder works for live video: no B-frames, so that a unit's decode time is its presentation time, and each picture
/// comes out as soon as the encoder can give it. Used by one thread at a time.
public final class VideoEncoder {
    /// Which encoder works, and why that one.
    public struct Choice: Equatable, Sendable {
        /// FFmpeg's name: "libx264".
        public var encoder: String
        public var codec: VideoCodec
        /// "first of libx264, libopenh264", or why earlier ones were passed over.
        public var reason: String
    }

    public let choice: Choice
    public private(set) var configuration: VideoEncoderConfiguration

    /// What a decoder must know; nil until the encoder has told it, which some hardware does with its first picture.
    public private(set) var format: VideoFormat?

    private var coder: CodecContext
    private var parameterSets: ParameterSets
    private var isFormatDelivered = false
    private var isKeyFrameRequested = false
    private var isReopeningNeeded = false
    private var lastTick = Int64.min
    private var pending: [Int64: Submission] = [:]

    private struct Submission {
        var presentationTime: MediaTime
        var captureInstant: UInt64?
    }

    /// A unit of time that divides the usual picture rates, and MPEG's own.
    private static let ticksPerSecond: Int64 = 90_000
    /// More pictures than any encoder holds back; an entry beyond was dropped by the encoder.
    private static let longestDelay = 256

    /// - Throws: `.noEncoder` with the reason for each of `configuration.encoders` if none opens.
    public init(_ configuration: VideoEncoderConfiguration) throws(VideoCodecError) {
        try configuration.validate()
        try Libav.load(WB_LIBRARY_AVCODEC)
        (coder, choice) = try Self.openFirst(configuration)
        self.configuration = configuration
        parameterSets = ParameterSets(codec: choice.codec)
        try update(with: AnnexB.lengthPrefixed(coder.extradata[...]))
    }

    /// The next picture becomes one that a decoder can begin with.
    public func requestKeyFrame() {
        isKeyFrameRequested = true
    }

    /// Changes the rate from the next picture on. An encoder that cannot do that while it runs is opened anew, which
    /// costs a key frame.
    public func setBitsPerSecond(_ bitsPerSecond: Int) throws(VideoCodecError) {
        var changed = configuration
        changed.bitsPerSecond = bitsPerSecond
        try changed.validate()
        configuration = changed
        if choice.encoder == "libx264" {
            // libavcodec compares these with x264's own before each picture, and reconfigures it.
            Self.setRate(coder.context, configuration)
        } else {
            isReopeningNeeded = true
        }
    }

    /// Codes one picture.
    ///
    /// - Parameter picture: of the configured size and pixel format. Its pixels are not changed.
    /// - Parameter presentationTime: comes back, exactly, with the unit; must grow.
    /// - Parameter captureInstant: comes back with the unit.
    /// - Returns: the units that are ready, in decoding order, with the format before the first unit that needs it.
    public func encode(
        _ picture: borrowing RawPicture, at presentationTime: MediaTime, captureInstant: UInt64? = nil
    ) throws(VideoCodecError) -> [MediaEvent] {
        guard
            picture.width == configuration.width, picture.height == configuration.height,
            picture.pixelFormat == configuration.pixelFormat
        else {
            throw .pictureMismatch(
                expected: "\(configuration.width)x\(configuration.height)", actual: picture.description)
        }
        var events = isReopeningNeeded ? try reopen() : []
        let tick = max(presentationTime.ticks(timescale: Self.ticksPerSecond), lastTick &+ 1)
        lastTick = tick
        remember(Submission(presentationTime: presentationTime, captureInstant: captureInstant), at: tick)
        picture.frame.pointee.pts = tick
        picture.frame.pointee.pict_type = isKeyFrameRequested ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        isKeyFrameRequested = false
        var outcome = coder.send(frame: picture.frame)
        if outcome == .full {
            events += try receive()
            outcome = coder.send(frame: picture.frame)
        }
        switch outcome {
        case .taken: return try events + receive()
        case .full: throw .malformedOutput("the encoder takes no picture and gives no packet")
        case .failed(let error): throw error
        }
    }

    /// Ends the stream: what the encoder held back.
    public func finish() throws(VideoCodecError) -> [MediaEvent] {
        if case .failed(let error) = coder.send(frame: nil) { throw error }
        return try receive()
    }

    private func reopen() throws(VideoCodecError) -> [MediaEvent] {
        let rest = try finish()
        coder = try Self.open(choice.encoder, configuration).coder
        isReopeningNeeded = false
        try update(with: AnnexB.lengthPrefixed(coder.extradata[...]))
        return rest
    }

    private func receive() throws(VideoCodecError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        while try coder.receivePacket() {
            let packet = coder.packet.pointee
            let data = try accessUnitData(UnsafeBufferPointer(start: packet.data, count: Int(max(packet.size, 0))))
            let isKeyFrame = packet.flags & AV_PKT_FLAG_KEY != 0
            if isKeyFrame { try update(with: data) }
            // Nothing can be made of a picture before its parameter sets are known.
            guard let format else { continue }
            if !isFormatDelivered {
                events.append(.videoFormat(format))
                isFormatDelivered = true
            }
            let submission = pending.removeValue(forKey: packet.pts)
            let presentationTime = submission?.presentationTime ?? time(packet.pts)
            events.append(
                .accessUnit(
                    AccessUnit(
                        track: .video(choice.codec), isKeyFrame: isKeyFrame, presentationTime: presentationTime,
                        decodeTime: packet.dts == packet.pts || packet.dts == wb_nopts()
                            ? presentationTime : time(packet.dts),
                        data: data,
                        captureInstant: submission?.captureInstant)))
        }
        return events
    }

    /// Encoders write byte streams; delimiters and filler belong there only, and are left out.
    private func accessUnitData(_ bytes: UnsafeBufferPointer<UInt8>) throws(VideoCodecError) -> [UInt8] {
        let codec = choice.codec
        let data = AnnexB.lengthPrefixed(Array(bytes)[...]) { unit in
            switch codec.kind(ofNALUnit: unit) {
            case .accessUnitDelimiter, .filler: false
            case .keyPicture, .picture, .videoParameterSet, .sequenceParameterSet, .pictureParameterSet,
                .supplementalInformation, .other:
                true
            }
        }
        guard !data.isEmpty else { throw .malformedOutput("a packet of \(bytes.count) bytes without a NAL unit") }
        return data
    }

    /// Takes the parameter sets that stand before the first slice of `data`.
    private func update(with data: [UInt8]) throws(VideoCodecError) {
        let found: VideoFormat?
        do {
            found = try parameterSets.update(with: data[...])
        } catch {
            throw .malformedOutput("\(error)")
        }
        guard var found else { return }
        found.frameRate = configuration.frameRate
        guard found != format else { return }
        format = found
        isFormatDelivered = false
    }

    private func time(_ ticks: Int64) -> MediaTime {
        MediaTime(ticks: ticks, timescale: Self.ticksPerSecond)
    }

    private func remember(_ submission: Submission, at tick: Int64) {
        if pending.count >= Self.longestDelay, let oldest = pending.keys.min() { pending[oldest] = nil }
        pending[tick] = submission
    }

    private static func openFirst(
        _ configuration: VideoEncoderConfiguration
    ) throws(VideoCodecError) -> (CodecContext, Choice) {
        var rejections: [EncoderRejection] = []
        for name in configuration.encoders {
            do throws(VideoCodecError) {
                let (coder, codec) = try open(name, configuration)
                let reason =
                    rejections.isEmpty
                    ? "first of \(configuration.encoders.joined(separator: ", "))"
                    : rejections.map { "\($0.encoder): \($0.reason)" }.joined(separator: "; ")
                return (coder, Choice(encoder: name, codec: codec, reason: reason))
            } catch {
                rejections.append(EncoderRejection(encoder: name, reason: "\(error)"))
            }
        }
        throw .noEncoder(rejections)
    }

    private static func open(
        _ name: String, _ configuration: VideoEncoderConfiguration
    ) throws(VideoCodecError) -> (coder: CodecContext, codec: VideoCodec) {
        guard let encoder = wb_avcodec_find_encoder_by_name(name) else {
            throw .failed(call: "avcodec_find_encoder_by_name", code: 0, message: "not in this libavcodec")
        }
        let codec: VideoCodec
        switch encoder.pointee.id {
        case AV_CODEC_ID_H264: codec = .h264
        case AV_CODEC_ID_HEVC: codec = .hevc
        default: throw .failed(call: name, code: 0, message: "not an encoder of H.264 or H.265")
        }
        let coder = try CodecContext(encoder)
        let context = coder.context
        context.pointee.width = Int32(configuration.width)
        context.pointee.height = Int32(configuration.height)
        context.pointee.pix_fmt = AVPixelFormat(rawValue: configuration.pixelFormat.rawValue)
        context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        context.pointee.time_base = AVRational(num: 1, den: Int32(ticksPerSecond))
        let rate = configuration.frameRateFraction
        context.pointee.framerate = AVRational(num: rate.numerator, den: rate.denominator)
        context.pointee.gop_size = Int32(clamping: configuration.picturesPerKeyFrame)
        context.pointee.max_b_frames = 0
        context.pointee.thread_count = Int32(clamping: configuration.threads)
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        context.pointee.color_range = AVCOL_RANGE_MPEG
        // As players assume where nothing is declared; the test pattern is drawn so, and cameras deliver it.
        let isHighDefinition = configuration.height >= 720
        context.pointee.colorspace = isHighDefinition ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
        context.pointee.color_primaries = isHighDefinition ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M
        context.pointee.color_trc = isHighDefinition ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M
        setRate(context, configuration)
        try coder.open(options(for: name, configuration))
        return (coder, codec)
    }

    /// A constant rate, evened out over half a second.
    private static func setRate(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ configuration: VideoEncoderConfiguration
    ) {
        context.pointee.bit_rate = numericCast(configuration.bitsPerSecond)
        context.pointee.rc_max_rate = numericCast(configuration.bitsPerSecond)
        context.pointee.rc_buffer_size = Int32(clamping: configuration.bitsPerSecond / 2)
    }

    private static func options(
        for encoder: String, _ configuration: VideoEncoderConfiguration
    ) -> [(name: String, value: String)] {
        switch encoder {
        case "libx264":
            // A requested key frame is an IDR, and none comes between but those requested: the GOP is what was asked.
            [
                ("preset", configuration.preset), ("tune", "zerolatency"), ("forced-idr", "1"),
                ("x264-params", "scenecut=0"),
            ]
        case "libx265":
            [
                ("preset", configuration.preset), ("tune", "zerolatency"), ("forced-idr", "1"),
                ("x265-params", "log-level=none:scenecut=0:open-gop=0"),
            ]
        case "libopenh264": [("rc_mode", "bitrate"), ("allow_skip_frames", "0")]
        default: []
        }
    }
}
