internal import CV4L2

/// V4L2's name of how samples lie in memory, or of how they are encoded: four characters.
public struct FourCC: RawRepresentable, Hashable, Sendable {
    /// First character lowest, as the kernel has it.
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Nil unless these are four ASCII characters, or fewer, which spaces follow.
    public init?(_ name: String) {
        var bytes = Array(name.utf8)
        guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        while bytes.count < 4 { bytes.append(0x20) }
        self.init(bytes)
    }

    private init(_ bytes: [UInt8]) {
        rawValue = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private init(known name: StaticString) {
        self.init(name.withUTF8Buffer { Array($0) })
    }

    /// Planes Y, U, V; chroma halved both ways.
    public static let yu12 = FourCC(known: "YU12")
    /// Planes Y, V, U; chroma halved both ways.
    public static let yv12 = FourCC(known: "YV12")
    /// Planes Y and interleaved UV; chroma halved both ways.
    public static let nv12 = FourCC(known: "NV12")
    /// Planes Y and interleaved VU; chroma halved both ways.
    public static let nv21 = FourCC(known: "NV21")
    /// Planes Y and interleaved UV; chroma halved horizontally.
    public static let nv16 = FourCC(known: "NV16")
    /// Planes Y, U, V; chroma halved horizontally.
    public static let yuv422p = FourCC(known: "422P")
    /// Packed Y U Y V; chroma halved horizontally. What most USB cameras deliver.
    public static let yuyv = FourCC(known: "YUYV")
    /// Packed U Y V Y; chroma halved horizontally.
    public static let uyvy = FourCC(known: "UYVY")
    /// Packed Y V Y U; chroma halved horizontally.
    public static let yvyu = FourCC(known: "YVYU")
    /// Packed red, green, blue, 8 bits each.
    public static let rgb3 = FourCC(known: "RGB3")
    /// Packed blue, green, red, 8 bits each.
    public static let bgr3 = FourCC(known: "BGR3")
    /// Luma alone, 8 bits.
    public static let grey = FourCC(known: "GREY")
    public static let mjpeg = FourCC(known: "MJPG")
    public static let jpeg = FourCC(known: "JPEG")
    /// With start codes.
    public static let h264 = FourCC(known: "H264")
    public static let hevc = FourCC(known: "HEVC")

    /// A JPEG image each.
    public var isJPEG: Bool { self == .mjpeg || self == .jpeg }

    /// Encoded: the number of bytes differs from frame to frame.
    public var isCompressed: Bool { Self.compressed.contains(self) }

    /// Encoded as video: a frame may need those before it.
    public var isVideo: Bool { Self.video.contains(self) }

    /// Samples of a sensor behind a mosaic of colour filters, which need an image processor.
    public var isBayer: Bool { Self.bayer.contains(self) }

    private static func set(_ names: String) -> Set<FourCC> {
        Set(names.split(separator: "|").compactMap { FourCC(String($0)) })
    }

    private static let compressed = set(
        "MJPG|JPEG|dvsd|MPEG|H264|AVC1|M264|H263|MPG1|MPG2|MG2S|MPG4|XVID|VC1G|VC1L|VP80|VP8F|VP90|VP9F|HEVC|FWHT|SFWH"
            + "|S264|S265|CPIA|WNVA|S910|PWC1|PWC2|E625|S561|P207|M310|JL20|SONX|905C|PJPG|O511|O518|JPGL|S401|S5CI|MT21"
            + "|QC8C|Q08C|Q10C|AV1F|RV30|RV40")

    private static let video = set(
        "H264|AVC1|M264|H263|MPEG|MPG1|MPG2|MPG4|XVID|VC1G|VC1L|VP80|VP90|HEVC|AV1F|RV30|RV40|FWHT")

    private static let bayer = set(
        "BA81|GBRG|GRBG|RGGB|BG10|GB10|BA10|RG10|pBAA|pGAA|pgAA|pRAA|aBA8|aGA8|agA8|aRA8|bBA8|bGA8|BD10|bRA8|BG12|GB12"
            + "|BA12|RG12|pBCC|pGCC|pgCC|pRCC|BG14|GB14|GR14|RG14|pBEE|pGEE|pgEE|pREE|BYR2|GB16|GR16|RG16|ip3b|ip3g|ip3G"
            + "|ip3r|PC1B|PC1G|PC1g|PC1R|PC2B|PC2G|PC2g|PC2R")
}

extension FourCC: CustomStringConvertible {
    /// "YUYV"; what is not printable is a question mark.
    public var description: String {
        var text = ""
        for shift in [0, 8, 16, 24] as [UInt32] {
            let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
            // The highest bit marks big-endian variants (v4l2_fourcc_be).
            let character = shift == 24 ? byte & 0x7F : byte
            text.unicodeScalars.append((0x20...0x7E).contains(character) ? Unicode.Scalar(character) : "?")
        }
        while text.hasSuffix(" ") { text.removeLast() }
        return rawValue >> 31 == 1 ? text + "-BE" : text
    }
}
