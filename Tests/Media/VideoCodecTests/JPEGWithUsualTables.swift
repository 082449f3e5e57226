import CAVCodec

@testable import VideoCodec

extension CodecContext {
    /// An encoder that writes the tables of the standard's annex K, as cameras use them.
    static func mjpegWithUsualTables(width: Int, height: Int) throws -> CodecContext {
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_encoder_by_name("mjpeg") else { throw VideoCodecError.noEncoder([]) }
        let codecContext = try CodecContext(codec)
        codecContext.context.pointee.width = Int32(width)
        codecContext.context.pointee.height = Int32(height)
        codecContext.context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        codecContext.context.pointee.color_range = AVCOL_RANGE_JPEG
        codecContext.context.pointee.time_base = AVRational(num: 1, den: 1)
        codecContext.context.pointee.thread_count = 1
        try codecContext.open([("huffman", "default")])
        return codecContext
    }

    func encoded(_ frame: borrowing VideoFrame) throws -> [UInt8] {
        frame.avFrame.pointee.pts = 0
        guard send(avFrame: frame.avFrame) == .taken, try receivePacket() else { return [] }
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }
}
