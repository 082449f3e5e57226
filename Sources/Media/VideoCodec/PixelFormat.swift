internal import CAVCodec

/// How the samples of a frame lie in memory; the raw value is libavutil's AVPixelFormat.
public struct PixelFormat: RawRepresentable, Hashable, Sendable {
    public var rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    private init(_ format: AVPixelFormat) {
        rawValue = format.rawValue
    }

    /// Planes Y, U, V; chroma halved both ways.
    public static let yuv420p = PixelFormat(AV_PIX_FMT_YUV420P)
    /// As `yuv420p`, with brightness from 0 to 255: what JPEG holds.
    public static let yuvj420p = PixelFormat(AV_PIX_FMT_YUVJ420P)
    /// Planes Y, U, V; chroma halved horizontally.
    public static let yuv422p = PixelFormat(AV_PIX_FMT_YUV422P)
    /// As `yuv422p`, with brightness from 0 to 255: what many cameras' JPEG holds.
    public static let yuvj422p = PixelFormat(AV_PIX_FMT_YUVJ422P)
    /// Planes Y, U, V of equal size.
    public static let yuv444p = PixelFormat(AV_PIX_FMT_YUV444P)
    /// As `yuv444p`, with brightness from 0 to 255.
    public static let yuvj444p = PixelFormat(AV_PIX_FMT_YUVJ444P)
    /// Planes Y and interleaved UV; chroma halved both ways.
    public static let nv12 = PixelFormat(AV_PIX_FMT_NV12)
    /// Planes Y and interleaved VU; chroma halved both ways.
    public static let nv21 = PixelFormat(AV_PIX_FMT_NV21)
    /// Packed Y U Y V; chroma halved horizontally. What most USB cameras deliver.
    public static let yuyv422 = PixelFormat(AV_PIX_FMT_YUYV422)
    /// Packed U Y V Y; chroma halved horizontally.
    public static let uyvy422 = PixelFormat(AV_PIX_FMT_UYVY422)
    /// Packed Y V Y U; chroma halved horizontally.
    public static let yvyu422 = PixelFormat(AV_PIX_FMT_YVYU422)
    /// Packed, 8 bits each.
    public static let rgb24 = PixelFormat(AV_PIX_FMT_RGB24)
    /// Packed blue, green, red, 8 bits each.
    public static let bgr24 = PixelFormat(AV_PIX_FMT_BGR24)
    /// Brightness only.
    public static let gray8 = PixelFormat(AV_PIX_FMT_GRAY8)

    /// The format that V4L2 calls so (linux/videodev2.h), for those whose frame lies in one piece of memory; nil for
    /// others, and for what is not uncompressed. YV12 is among those (its planes are in another order than libav's), and
    /// NV16 (libswscale does not read it); no camera has one of them alone.
    public init?(fourCC: UInt32) {
        switch fourCC {
        case Self.code("YUYV"): self = .yuyv422
        case Self.code("UYVY"): self = .uyvy422
        case Self.code("YVYU"): self = .yvyu422
        case Self.code("NV12"): self = .nv12
        case Self.code("NV21"): self = .nv21
        case Self.code("YU12"): self = .yuv420p
        case Self.code("422P"): self = .yuv422p
        case Self.code("RGB3"): self = .rgb24
        case Self.code("BGR3"): self = .bgr24
        case Self.code("GREY"): self = .gray8
        default: return nil
        }
    }

    private static func code(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { letters in letters.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// Brightness from 0 to 255, whatever else is said: libav's older way to signal the range.
    var isAlwaysFullRange: Bool {
        self == .yuvj420p || self == .yuvj422p || self == .yuvj444p
            || rawValue == AV_PIX_FMT_YUVJ440P.rawValue || rawValue == AV_PIX_FMT_YUVJ411P.rawValue
    }

    /// Red, green and blue, which have neither matrix nor range.
    var isRGB: Bool {
        self == .rgb24 || self == .bgr24 || rawValue == AV_PIX_FMT_GBRP.rawValue
    }

    /// Rows of a plane of a frame `height` rows high; nil when the format has no such plane or is not one of those named
    /// above.
    func rows(ofPlane plane: Int, height: Int) -> Int? {
        guard let planes, planes.indices.contains(plane) else { return nil }
        return planes[plane].rows(height: height)
    }
}
