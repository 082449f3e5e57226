internal import CAVCodec

/// A frame whose rows lie as a V4L2 encoder's driver has them.
///
/// libavcodec copies the planes of a frame into the driver's buffer as they are, with the frame's line size, and
/// never asks for the driver's (raspberrypi/firmware#1608, raspberrypi/rpicam-apps#188). It also copies as many rows as
/// the driver rounded the height to: the memory must go on behind the last one. For a driver that needs separate planes, it
/// copies each from the start of the frame's buffer of the same number.
final class AlignedFrame {
    let frame: VideoFrame

    init(width: Int, height: Int, pixelFormat: PixelFormat, alignment: Int) throws(VideoCodecError) {
        frame = try VideoFrame(width: width, height: height, pixelFormat: pixelFormat, lineAlignment: alignment)
    }

    /// Whether no one else, such as an encoder, still reads this memory.
    var isFree: Bool { wb_av_frame_is_writable(frame.avFrame) > 0 }

    func fits(_ other: borrowing VideoFrame) -> Bool {
        frame.width == other.width && frame.height == other.height && frame.pixelFormat == other.pixelFormat
    }

    /// Takes over the content and the properties of `source`, which has the same size and format.
    func copy(_ source: borrowing VideoFrame) throws(VideoCodecError) {
        try Libav.check(wb_av_frame_copy(frame.avFrame, source.avFrame), "av_frame_copy")
        try Libav.check(wb_av_frame_copy_props(frame.avFrame, source.avFrame), "av_frame_copy_props")
    }

    /// Whether `frame` can be sent unchanged: rows of exactly the driver's length, chroma's exactly half of it (a
    /// whole row where U and V lie together), and a buffer for each plane, up to the next whole macroblock.
    static func isAligned(_ frame: borrowing VideoFrame, alignment: Int) -> Bool {
        let avFrame = frame.avFrame
        let pixelFormat = frame.pixelFormat
        let lines = lineSizes(width: frame.width, pixelFormat: pixelFormat, alignment: alignment)
        let rows = (frame.height + 15) / 16 * 16
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
