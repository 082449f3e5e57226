internal import CAVCodec

/// Pictures as PNG files (libavcodec's encoder).
public enum PNGWriter {
    /// The bytes of a PNG file with 8 bits each of red, green and blue.
    public static func encode(_ picture: borrowing RawPicture) throws(VideoCodecError) -> [UInt8] {
        if picture.pixelFormat == .rgb24 { return try encode(rgb: picture) }
        let scaler = try PictureScaler()
        let converted = try scaler.scale(
            picture, width: picture.width, height: picture.height, pixelFormat: .rgb24)
        return try encode(rgb: converted)
    }

    private static func encode(rgb picture: borrowing RawPicture) throws(VideoCodecError) -> [UInt8] {
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_encoder_by_name("png") else {
            throw .noEncoder([EncoderRejection(encoder: "png", reason: "not in this libavcodec")])
        }
        let coder = try CodecContext(codec)
        coder.context.pointee.width = Int32(picture.width)
        coder.context.pointee.height = Int32(picture.height)
        coder.context.pointee.pix_fmt = AV_PIX_FMT_RGB24
        coder.context.pointee.time_base = AVRational(num: 1, den: 1)
        try coder.open()
        for frame in [UnsafePointer(picture.frame), nil] {
            if case .failed(let error) = coder.send(frame: frame) { throw error }
        }
        guard try coder.receivePacket() else { throw .malformedOutput("no packet") }
        return Array(UnsafeBufferPointer(start: coder.packet.pointee.data, count: Int(coder.packet.pointee.size)))
    }
}
