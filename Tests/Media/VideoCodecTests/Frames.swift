import VideoCodec

/// Frames in and out of RGB, by way of PNG's sibling: the encoder and scaler under test.
enum Pictures {
    static func rgb(_ pixels: [UInt8], width: Int, height: Int) throws -> VideoFrame {
        let source = try VideoFrame(width: width, height: height, pixels: pixels)
        return try FrameScaler().scale(source, width: width, height: height, pixelFormat: .yuv420p)
    }

    /// Brightness of one pixel.
    static func luma(_ frame: borrowing VideoFrame, x: Int, y: Int) -> UInt8 {
        frame.withPlane(0) { bytes, stride in bytes.unsafeLoad(fromByteOffset: y * stride + x, as: UInt8.self) } ?? 0
    }
}
