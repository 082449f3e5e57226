internal import CAVCodec

/// Frames as PNG files (libavcodec's encoder).
public enum PNGWriter {
    /// The bytes of a PNG file with 8 bits each of red, green and blue.
    public static func encode(_ frame: borrowing VideoFrame) throws(VideoCodecError) -> [UInt8] {
        if frame.pixelFormat == .rgb24 { return try encode(rgb: frame) }
        let scaler = try FrameScaler()
        let converted = try scaler.scale(
            frame, width: frame.width, height: frame.height, pixelFormat: .rgb24)
        return try encode(rgb: converted)
    }

    private static func encode(rgb frame: borrowing VideoFrame) throws(VideoCodecError) -> [UInt8] {
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_encoder_by_name("png") else {
            throw .noEncoder([EncoderRejection(encoder: "png", reason: "not in this libavcodec")])
        }
        let codecContext = try CodecContext(codec)
        codecContext.context.pointee.width = Int32(frame.width)
        codecContext.context.pointee.height = Int32(frame.height)
        codecContext.context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        codecContext.context.pointee.time_base = AVRational(num: 1, den: 1)
        try codecContext.open()
        for avFrame in [UnsafePointer(frame.avFrame), nil] {
            if case .failed(let error) = codecContext.send(avFrame: avFrame) { throw error }
        }
        guard try codecContext.receivePacket() else { throw .malformedOutput("no packet") }
        return Array(
            UnsafeBufferPointer(start: codecContext.packet.pointee.data, count: Int(codecContext.packet.pointee.size)))
    }
}
