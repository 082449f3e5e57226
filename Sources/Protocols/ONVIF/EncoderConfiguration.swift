/// A frame's size, in pixels.
public struct FrameSize: Hashable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}

/// How a device's video encoder is set.
public struct EncoderConfiguration: Equatable, Sendable {
    public var token: String
    public var name: String
    /// FFmpeg's name in lower case: `h264`, `hevc`, `mjpeg`, `mpeg4`.
    public var codec: String
    public var size: FrameSize?
    /// Frames per second, at most.
    public var rate: Double?
    /// Bits per second, at most.
    public var bitrate: Int?
    /// Frames from one key frame to the next.
    public var gop: Int?
    /// The element as it came: a change is written into it, so that what is unknown here stays as it was.
    public var element: XMLElement
}
