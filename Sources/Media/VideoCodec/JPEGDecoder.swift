internal import CAVCodec

/// Turns the JPEG images of a camera into pixels. Used by one thread at a time.
///
/// In software only. libavcodec's `mjpeg_v4l2m2m` waits in the kernel for its device without an end, while the
/// decoding thread is not watched: a driver that does not answer would stop the camera for good. Debian's libavcodec does
/// not have it either.
public final class JPEGDecoder {
    /// FFmpeg's name of the decoder in use; nil before the first frame and after a damaged one.
    public var decoder: String? { codecContext == nil ? nil : Self.name }

    private var codecContext: CodecContext?

    private static let name = "mjpeg"

    private let maxPixels: Int

    /// - Parameter maxPixels: that memory is taken for, also where a frame says something else behind its header.
    public init(maxPixels: Int = 1 << 25) {
        self.maxPixels = min(maxPixels, JPEGHeader.maxPixels)
    }

    /// Loads and opens what `decode` would: for a process that cannot open anything later.
    func prepare() throws(VideoCodecError) {
        _ = try opened()
    }

    /// Decodes one frame. A camera's may lack its Huffman tables: the usual ones are then assumed (UVC, AVI).
    ///
    /// - Throws: `.malformedFrame` for what is not a JPEG, is cut, or declares more than 2^25 pixels (before memory is taken
    ///   for it); the next frame is decoded as if nothing had been. `.noDecoder` when this libavcodec has none.
    public func decode(_ bytes: UnsafeRawBufferPointer) throws(VideoCodecError) -> VideoFrame {
        let header = try JPEGHeader(bytes)
        let codecContext = try opened()
        do throws(VideoCodecError) {
            return try decode(bytes, header, codecContext)
        } catch {
            // Tables of a damaged frame must not be those of the next one.
            self.codecContext = nil
            throw error
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, _ header: JPEGHeader, _ codecContext: CodecContext
    ) throws(VideoCodecError) -> VideoFrame {
        try codecContext.fillPacket(bytes)
        guard case .taken = codecContext.send(packet: codecContext.packet) else { throw Self.undecodable() }
        let frame = try VideoFrame()
        var isReceived = false
        do throws(VideoCodecError) {
            isReceived = try codecContext.receiveFrame(into: frame.avFrame)
        } catch {
            if case .failed(_, _, let message) = error { throw .malformedFrame(message) }
            throw error
        }
        guard isReceived else { throw .malformedFrame("no frame comes of it") }
        guard !wb_frame_is_damaged(frame.avFrame) else { throw .malformedFrame("parts of it are missing") }
        guard
            frame.width == header.width, frame.height == header.height,
            Self.pixelFormats.contains(frame.avFrame.pointee.format)
        else {
            throw .malformedFrame(
                "it declares \(header.width)x\(header.height) pixels and decodes to \(frame.description)")
        }
        return frame
    }

    private func opened() throws(VideoCodecError) -> CodecContext {
        if let codecContext { return codecContext }
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_decoder_by_name(Self.name) else { throw .noDecoder(Self.name) }
        let codecContext = try CodecContext(codec)
        // More threads would hold frames back.
        codecContext.context.pointee.thread_count = 1
        // A frame that is cut is an error, not a frame that is grey below.
        codecContext.context.pointee.err_recognition = AV_EF_EXPLODE
        codecContext.context.pointee.max_pixels = Int64(maxPixels)
        try codecContext.open()
        self.codecContext = codecContext
        return codecContext
    }

    private static func undecodable() -> VideoCodecError {
        let log = Libav.takeLog()
        return .malformedFrame(log.isEmpty ? "the decoder refuses it" : log)
    }

    /// Those of JPEG with 8 bits; others would be another kind of file that the decoder also knows.
    private static let pixelFormats: Set<Int32> = Set(
        [
            AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P, AV_PIX_FMT_YUVJ411P,
            AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUV440P, AV_PIX_FMT_YUV411P,
            AV_PIX_FMT_NV12, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GBRP,
        ].map(\.rawValue))
}

extension CodecContext {
    /// Fills `packet` with a copy of `bytes`, and the zeros behind them that parsers read.
    func fillPacket(_ bytes: UnsafeRawBufferPointer) throws(VideoCodecError) {
        wb_av_packet_unref(packet)
        guard let count = Int32(exactly: bytes.count), count < Int32.max - 64, let base = bytes.baseAddress else {
            throw .malformedFrame("\(bytes.count) bytes")
        }
        try Libav.check(wb_av_new_packet(packet, count), "av_new_packet")
        UnsafeMutableRawPointer(packet.pointee.data).copyMemory(from: base, byteCount: bytes.count)
    }
}
