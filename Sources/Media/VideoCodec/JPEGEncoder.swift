internal import CAVCodec

/// Frames as JPEG files (libavcodec's encoder). Used by one thread at a time.
public final class JPEGEncoder {
    private var codecContext: CodecContext?
    private var scaler: FrameScaler?
    private var opened: Opening?

    private struct Opening: Equatable {
        var width: Int
        var height: Int
        var quality: Int
    }

    public init() {}

    /// The bytes of a JPEG file: 4:2:0, BT.601, full range, as every viewer expects.
    ///
    /// - Parameters:
    ///   - quality: 1…100, as libjpeg's: at 50 twice as coarse as at 75, at 100 as fine as can be.
    ///   - widest: pixels; a wider frame is made smaller, in its own shape. Nil: as it is.
    public func encode(
        _ frame: borrowing VideoFrame, quality: Int = 85, maxWidth: Int? = nil
    ) throws(VideoCodecError) -> [UInt8] {
        guard (1...100).contains(quality) else { throw .invalid(.quality, value: quality) }
        if let maxWidth, !(16...16_384).contains(maxWidth) { throw .invalid(.width, value: maxWidth) }
        var (width, height) = (frame.width, frame.height)
        if let maxWidth, maxWidth < width {
            // Even, and never so flat that nothing is left.
            height = max(2, Int((Double(height) * Double(maxWidth) / Double(width) / 2).rounded()) * 2)
            width = maxWidth / 2 * 2
        }
        let full = try VideoFrame(width: width, height: height, pixelFormat: .yuvj420p)
        full.isFullRange = true
        full.matrix = .bt601
        try scaled(frame, into: full)
        let codecContext = try opened(Opening(width: width, height: height, quality: quality))
        full.avFrame.pointee.quality = codecContext.context.pointee.global_quality
        full.avFrame.pointee.pts = 0
        do throws(VideoCodecError) {
            if case .failed(let error) = codecContext.send(avFrame: full.avFrame) { throw error }
            guard try codecContext.receivePacket() else { throw .malformedOutput("no packet") }
        } catch {
            self.codecContext = nil
            throw error
        }
        defer { wb_av_packet_unref(codecContext.packet) }
        let packet = codecContext.packet.pointee
        return Array(UnsafeBufferPointer(start: packet.data, count: Int(max(packet.size, 0))))
    }

    private func scaled(_ frame: borrowing VideoFrame, into target: borrowing VideoFrame) throws(VideoCodecError) {
        let scaler: FrameScaler
        if let used = self.scaler { scaler = used } else { scaler = try FrameScaler() }
        self.scaler = scaler
        try scaler.scale(frame, into: target)
    }

    private func opened(_ opening: Opening) throws(VideoCodecError) -> CodecContext {
        if let codecContext, opened == opening { return codecContext }
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_encoder_by_name("mjpeg") else {
            throw .noEncoder([EncoderRejection(encoder: "mjpeg", reason: "not in this libavcodec")])
        }
        let codecContext = try CodecContext(codec)
        let context = codecContext.context
        context.pointee.width = Int32(opening.width)
        context.pointee.height = Int32(opening.height)
        context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        context.pointee.color_range = AVCOL_RANGE_JPEG
        context.pointee.colorspace = AVCOL_SPC_SMPTE170M
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_QSCALE
        context.pointee.global_quality = FF_QP2LAMBDA * Int32(Self.scale(forQuality: opening.quality))
        context.pointee.qmin = 1
        context.pointee.qmax = 31
        try codecContext.open()
        self.codecContext = codecContext
        opened = opening
        return codecContext
    }

    /// libavcodec's quantiser scale. Its matrix at 8 is about as coarse as six tenths of the one that libjpeg scales by
    /// `quality`.
    static func scale(forQuality quality: Int) -> Int {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return min(max((percent * 8 + 30) / 60, 1), 31)
    }
}
