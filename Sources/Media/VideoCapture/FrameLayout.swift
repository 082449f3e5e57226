/// Where the samples of an uncompressed frame lie in one stretch of memory, for the formats that libav knows as well.
package struct FrameLayout: Equatable, Sendable {
    private enum Kind: Equatable {
        /// One plane of so many bytes per pixel.
        case packed(Int)
        /// Y, then two chroma planes of half its stride.
        case planar(chromaRowsHalved: Bool)
        /// Y, then one plane of both chroma samples, of its stride.
        case semiplanar(chromaRowsHalved: Bool)
    }

    private let kind: Kind

    /// Nil for compressed and for odd formats.
    package init?(_ format: FourCC) {
        switch format {
        case .yuyv, .uyvy, .yvyu: kind = .packed(2)
        case .rgb3, .bgr3: kind = .packed(3)
        case .grey: kind = .packed(1)
        case .yu12, .yv12: kind = .planar(chromaRowsHalved: true)
        case .yuv422p: kind = .planar(chromaRowsHalved: false)
        case .nv12, .nv21: kind = .semiplanar(chromaRowsHalved: true)
        case .nv16: kind = .semiplanar(chromaRowsHalved: false)
        default: return nil
        }
    }

    /// Whether luma has a plane of its own, whose stride an encoder can take as it is.
    var isPlanar: Bool {
        if case .packed = kind { return false }
        return true
    }

    /// The least stride of the first plane. Chroma covers two pixels, so that an odd width needs one more.
    package func bytesPerLine(width: Int) -> Int {
        switch kind {
        case .packed(2): (width + 1) / 2 * 4
        case .packed(let bytes): width * bytes
        case .planar, .semiplanar: (width + 1) / 2 * 2
        }
    }

    /// Offset and stride of each plane.
    func planes(bytesPerLine stride: Int, height: Int) -> [(offset: Int, stride: Int)] {
        switch kind {
        case .packed: return [(0, stride)]
        case .semiplanar: return [(0, stride), (stride * height, stride)]
        case .planar(let isHalved):
            let chroma = (stride / 2) * (isHalved ? (height + 1) / 2 : height)
            return [(0, stride), (stride * height, stride / 2), (stride * height + chroma, stride / 2)]
        }
    }

    /// Of a whole frame. `stride` and `height` are bounded by the caller, so that nothing overflows.
    package func bytes(bytesPerLine stride: Int, height: Int) -> Int {
        switch kind {
        case .packed: stride * height
        case .semiplanar(let isHalved): stride * height + stride * (isHalved ? (height + 1) / 2 : height)
        case .planar(let isHalved): stride * height + 2 * (stride / 2) * (isHalved ? (height + 1) / 2 : height)
        }
    }
}
