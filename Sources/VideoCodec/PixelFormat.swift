internal import CAVCodec

/// How the samples of a picture lie in memory; the raw value is libavutil's AVPixelFormat.
public struct PixelFormat: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Planes Y, U, V; chroma halved both ways.
    public static let yuv420p = PixelFormat(rawValue: AV_PIX_FMT_YUV420P.rawValue)
    /// Planes Y and interleaved UV; chroma halved both ways.
    public static let nv12 = PixelFormat(rawValue: AV_PIX_FMT_NV12.rawValue)
    /// Packed Y U Y V; chroma halved horizontally. What most USB cameras deliver.
    public static let yuyv422 = PixelFormat(rawValue: AV_PIX_FMT_YUYV422.rawValue)
    /// Packed, 8 bits each.
    public static let rgb24 = PixelFormat(rawValue: AV_PIX_FMT_RGB24.rawValue)

    /// Rows of a plane of a picture `height` rows high, for the formats named above.
    func rows(ofPlane plane: Int, height: Int) -> Int {
        plane > 0 && (self == .yuv420p || self == .nv12) ? (height + 1) / 2 : height
    }
}
