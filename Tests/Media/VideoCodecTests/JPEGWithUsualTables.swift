import CAVCodec

@testable import VideoCodec

extension CodecContext {
    /// An encoder that writes the tables of the standard's annex K, as cameras use them.
    static func mjpegWithUsualTables(width: Int, height: Int) throws -> CodecContext {
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_encoder_by_name("mjpeg") else { throw VideoCodecError.noEncoder([]) }
        let coder = try CodecContext(codec)
        coder.context.pointee.width = Int32(width)
        coder.context.pointee.height = Int32(height)
        coder.context.pointee.pix_fmt = AV_PIX_FMT_YUVJ420P
        coder.context.pointee.color_range = AVCOL_RANGE_JPEG
        coder.context.pointee.time_base = AVRational(num: 1, den: 1)
        coder.context.pointee.thread_count = 1
        try coder.open([("huffman", "default")])
        return coder
    }

    func encoded(_ picture: borrowing RawPicture) throws -> [UInt8] {
        picture.frame.pointee.pts = 0
        guard send(frame: picture.frame) == .taken, try receivePacket() else { return [] }
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }
}
