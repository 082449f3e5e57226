internal import CAVCodec

/// Turns the JPEG pictures of a camera into pixels. Used by one thread at a time.
///
/// In software only. libavcodec's `mjpeg_v4l2m2m` waits in the kernel for its device without an end, while whoever decodes
/// is watched by nobody: a driver that does not answer would stop the camera for good. Debian's libavcodec does not have
/// it either.
public final class JPEGDecoder {
    /// FFmpeg's name of the decoder in use; nil before the first picture and after a damaged one.
    public var decoder: String? { coder == nil ? nil : Self.name }

    private var coder: CodecContext?

    private static let name = "mjpeg"

    private let mostPixels: Int

    /// - Parameter mostPixels: that memory is taken for, also where a picture says something else behind its header.
    public init(mostPixels: Int = 1 << 25) {
        self.mostPixels = min(mostPixels, JPEGHeader.mostPixels)
    }

    /// Loads and opens what `decode` would: for a process that cannot open anything later.
    func prepare() throws(VideoCodecError) {
        _ = try opened()
    }

    /// Decodes one picture. A camera's may lack its Huffman tables: the usual ones are then assumed (UVC, AVI).
    ///
    /// - Throws: `.malformedPicture` for what is none, is cut, or declares more than 2^25 pixels (before memory is taken
    ///   for it); the next picture is decoded as if nothing had been. `.noDecoder` when this libavcodec has none.
    public func decode(_ bytes: UnsafeRawBufferPointer) throws(VideoCodecError) -> RawPicture {
        let header = try JPEGHeader(bytes)
        let coder = try opened()
        do throws(VideoCodecError) {
            return try decode(bytes, header, coder)
        } catch {
            // Tables of a damaged picture must not be those of the next one.
            self.coder = nil
            throw error
        }
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, _ header: JPEGHeader, _ coder: CodecContext
    ) throws(VideoCodecError) -> RawPicture {
        try coder.fillPacket(bytes)
        guard case .taken = coder.send(packet: coder.packet) else { throw Self.undecodable() }
        let picture = try RawPicture()
        var isReceived = false
        do throws(VideoCodecError) {
            isReceived = try coder.receiveFrame(into: picture.frame)
        } catch {
            if case .failed(_, _, let message) = error { throw .malformedPicture(message) }
            throw error
        }
        guard isReceived else { throw .malformedPicture("no picture comes of it") }
        guard !wb_frame_is_damaged(picture.frame) else { throw .malformedPicture("parts of it are missing") }
        guard
            picture.width == header.width, picture.height == header.height,
            Self.pixelFormats.contains(picture.frame.pointee.format)
        else {
            throw .malformedPicture(
                "it declares \(header.width)x\(header.height) pixels and decodes to \(picture.description)")
        }
        return picture
    }

    private func opened() throws(VideoCodecError) -> CodecContext {
        if let coder { return coder }
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_decoder_by_name(Self.name) else { throw .noDecoder(Self.name) }
        let coder = try CodecContext(codec)
        // More threads would hold pictures back.
        coder.context.pointee.thread_count = 1
        // A picture that is cut is an error, not a picture that is grey below.
        coder.context.pointee.err_recognition = AV_EF_EXPLODE
        coder.context.pointee.max_pixels = Int64(mostPixels)
        try coder.open()
        self.coder = coder
        return coder
    }

    private static func undecodable() -> VideoCodecError {
        let log = Libav.takeLog()
        return .malformedPicture(log.isEmpty ? "the decoder refuses it" : log)
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
            throw .malformedPicture("\(bytes.count) bytes")
        }
        try Libav.check(wb_av_new_packet(packet, count), "av_new_packet")
        UnsafeMutableRawPointer(packet.pointee.data).copyMemory(from: base, byteCount: bytes.count)
    }
}
