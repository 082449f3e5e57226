internal import CAVCodec

/// A frame whose rows lie as a V4L2 encoder's driver has them.
///
/// libavcodec copies the planes of a frame into the driver's buffer as they are, with the frame's line size, and
/// never asks for the driver's (raspberrypi/firmware#1608, raspberrypi/rpicam-apps#188). It also copies as many rows as
/// the driver rounded the height to: the memory must go on behind the last one. Of a driver that wants planes apart, it
/// copies each from the begin of the frame's buffer of the same number.
final class AlignedFrame {
    let picture: VideoFrame

    init(width: Int, height: Int, pixelFormat: PixelFormat, alignment: Int) throws(VideoCodecError) {
        picture = try VideoFrame(width: width, height: height, pixelFormat: pixelFormat, lineAlignment: alignment)
    }

    /// Whether nobody else, such as an encoder, still reads this memory.
    var isFree: Bool { wb_av_frame_is_writable(picture.avFrame) > 0 }

    func fits(_ other: borrowing VideoFrame) -> Bool {
        picture.width == other.width && picture.height == other.height && picture.pixelFormat == other.pixelFormat
    }

    /// Takes over the content and the properties of `source`, which has the same size and format.
    func copy(_ source: borrowing VideoFrame) throws(VideoCodecError) {
        try Libav.check(wb_av_frame_copy(picture.avFrame, source.avFrame), "av_frame_copy")
        try Libav.check(wb_av_frame_copy_props(picture.avFrame, source.avFrame), "av_frame_copy_props")
    }

    /// Whether `picture` can be sent as it is: rows of exactly the driver's length, chroma's exactly half of it (a
    /// whole row where U and V lie together), and a buffer for each plane, up to the next whole macroblock.
    static func isAligned(_ picture: borrowing VideoFrame, alignment: Int) -> Bool {
        let avFrame = picture.avFrame
        let pixelFormat = picture.pixelFormat
        let lines = lineSizes(width: picture.width, pixelFormat: pixelFormat, alignment: alignment)
        let rows = (picture.height + 15) / 16 * 16
        guard
            avFrame.pointee.linesize.0 == lines.luma, avFrame.pointee.linesize.1 == lines.chroma,
            pixelFormat == .nv12 || avFrame.pointee.linesize.2 == lines.chroma,
            isBacked(avFrame.pointee.buf.0, avFrame.pointee.data.0, Int(lines.luma) * rows),
            isBacked(avFrame.pointee.buf.1, avFrame.pointee.data.1, Int(lines.chroma) * rows / 2)
        else { return false }
        return pixelFormat == .nv12
            || isBacked(avFrame.pointee.buf.2, avFrame.pointee.data.2, Int(lines.chroma) * rows / 2)
    }

    private static func lineSizes(
        width: Int, pixelFormat: PixelFormat, alignment: Int
    ) -> (luma: Int32, chroma: Int32) {
        let line = (width + alignment - 1) / alignment * alignment
        return (Int32(clamping: line), Int32(clamping: pixelFormat == .nv12 ? line : line / 2))
    }

    /// Whether the plane's own buffer begins with the plane, and holds `count` bytes.
    private static func isBacked(
        _ buffer: UnsafeMutablePointer<AVBufferRef>?, _ start: UnsafeMutablePointer<UInt8>?, _ count: Int
    ) -> Bool {
        guard let buffer, let start, buffer.pointee.data == start else { return false }
        return UInt(buffer.pointee.size) >= UInt(count)
    }
}
