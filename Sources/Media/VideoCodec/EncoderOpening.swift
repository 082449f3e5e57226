internal import CAVCodec
internal import Media

/// How an encoder is found and set up.
struct EncoderOpening {
    let codecContext: CodecContext
    let choice: VideoEncoder.Choice

    /// The first of `configuration.encoders` that opens.
    ///
    /// - Throws: `.noEncoder` with the reason for each.
    init(_ configuration: VideoEncoderConfiguration) throws(VideoCodecError) {
        var rejections: [EncoderRejection] = []
        for name in configuration.encoders {
            do throws(VideoCodecError) {
                let (codecContext, codec) = try Self.open(EncoderTraits(name: name), configuration)
                self.codecContext = codecContext
                choice = VideoEncoder.Choice(
                    encoder: name, codec: codec,
                    reason: rejections.isEmpty
                        ? "first of \(configuration.encoders.joined(separator: ", "))"
                        : rejections.map { "\($0.encoder): \($0.reason)" }.joined(separator: "; "))
                return
            } catch {
                rejections.append(EncoderRejection(encoder: name, reason: "\(error)"))
            }
        }
        throw .noEncoder(rejections)
    }

    static func open(
        _ traits: EncoderTraits, _ configuration: VideoEncoderConfiguration
    ) throws(VideoCodecError) -> (codecContext: CodecContext, codec: VideoCodec) {
        guard let encoder = wb_avcodec_find_encoder_by_name(traits.name) else {
            throw .failed(call: "avcodec_find_encoder_by_name", code: 0, message: "not in this libavcodec")
        }
        let codec: VideoCodec
        switch encoder.pointee.id {
        case AV_CODEC_ID_H264: codec = .h264
        case AV_CODEC_ID_HEVC: codec = .hevc
        default: throw .failed(call: traits.name, code: 0, message: "not an encoder of H.264 or H.265")
        }
        // The wrapper would encode the samples as if they had the limited range.
        guard traits.isSoftware || !configuration.isFullRange else {
            throw .failed(call: traits.name, code: 0, message: "takes frames of limited range only")
        }
        let codecContext = try CodecContext(encoder)
        let context = codecContext.context
        context.pointee.width = Int32(configuration.width)
        context.pointee.height = Int32(configuration.height)
        context.pointee.pix_fmt = AVPixelFormat(rawValue: configuration.pixelFormat.rawValue)
        context.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        context.pointee.time_base = AVRational(num: 1, den: Int32(traits.ticksPerSecond))
        let rate = configuration.frameRateFraction
        context.pointee.framerate = AVRational(num: rate.numerator, den: rate.denominator)
        context.pointee.gop_size = Int32(clamping: traits.frames(perKeyFrame: configuration.framesPerKeyFrame))
        context.pointee.max_b_frames = 0
        context.pointee.thread_count = Int32(clamping: configuration.threads)
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        setColors(context, configuration)
        setRate(context, configuration)
        try codecContext.open(options(for: traits, configuration))
        return (codecContext, codec)
    }

    /// A constant rate, evened out over half a second.
    ///
    /// - Parameter evenedOver: seconds.
    static func setRate(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ configuration: VideoEncoderConfiguration,
        evenedOver: Double = 0.5
    ) {
        context.pointee.bit_rate = numericCast(configuration.bitsPerSecond)
        context.pointee.rc_max_rate = numericCast(configuration.bitsPerSecond)
        context.pointee.rc_buffer_size = Int32(clamping: Int(Double(configuration.bitsPerSecond) * evenedOver))
    }

    private static func setColors(
        _ context: UnsafeMutablePointer<AVCodecContext>, _ configuration: VideoEncoderConfiguration
    ) {
        context.pointee.color_range = configuration.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        let isBT709 = configuration.colorMatrix.resolved(height: configuration.height) == .bt709
        context.pointee.colorspace = isBT709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
        context.pointee.color_primaries = isBT709 ? AVCOL_PRI_BT709 : AVCOL_PRI_SMPTE170M
        context.pointee.color_trc = isBT709 ? AVCOL_TRC_BT709 : AVCOL_TRC_SMPTE170M
    }

    private static func options(
        for traits: EncoderTraits, _ configuration: VideoEncoderConfiguration
    ) -> [(name: String, value: String)] {
        if traits.isM2M {
            return [
                ("num_capture_buffers", "\(configuration.captureBuffers)"),
                ("num_output_buffers", "\(configuration.outputBuffers)"),
            ]
        }
        switch traits.name {
        case "libx264":
            // A requested key frame is an IDR, and none comes between but those requested: the GOP is what was asked.
            return [
                ("preset", configuration.preset), ("tune", "zerolatency"), ("forced-idr", "1"),
                ("x264-params", "scenecut=0"),
            ]
        case "libx265":
            return [
                ("preset", configuration.preset), ("tune", "zerolatency"), ("forced-idr", "1"),
                ("x265-params", "log-level=none:scenecut=0:open-gop=0"),
            ]
        case "libopenh264": return [("rc_mode", "bitrate"), ("allow_skip_frames", "0")]
        default: return []
        }
    }
}
