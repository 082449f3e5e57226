/// One plane of a pixel format: groups of bytes, each of which belongs to one pixel or to several beside and beneath each
/// other.
struct PixelPlane {
    /// What a byte of a group says.
    enum Sample {
        case luma, chroma, color
    }

    /// The bytes of a group.
    let samples: [Sample]
    /// Pixels that a group covers: `columns` side by side, `rowsPerGroup` beneath.
    let columns: Int
    let rowsPerGroup: Int

    init(_ samples: [Sample], columns: Int = 1, rows: Int = 1) {
        self.samples = samples
        self.columns = columns
        rowsPerGroup = rows
    }

    /// Of a frame `height` rows high.
    func rows(height: Int) -> Int {
        (height + rowsPerGroup - 1) / rowsPerGroup
    }

    /// That hold samples in a row of a frame `width` pixels wide.
    func bytesPerRow(width: Int) -> Int {
        (width + columns - 1) / columns * samples.count
    }

    /// The line size that belongs to `first`, the first plane's: chroma exactly half where it is halved.
    func stride(forFirst first: Int) -> Int {
        first / columns * samples.count
    }
}

extension PixelFormat {
    /// Nil for formats that are not drawn on.
    var planes: [PixelPlane]? {
        switch self {
        case .yuv420p, .yuvj420p: PlaneTable.planar420
        case .yuv422p, .yuvj422p: PlaneTable.planar422
        case .yuv444p, .yuvj444p: PlaneTable.planar444
        case .nv12, .nv21: PlaneTable.semiplanar420
        case .yuyv422, .yvyu422: PlaneTable.packedLumaFirst
        case .uyvy422: PlaneTable.packedChromaFirst
        case .rgb24, .bgr24: PlaneTable.packedColors
        case .gray8: PlaneTable.luma
        default: nil
        }
    }

    /// Line sizes of all planes, the first a multiple of `lineAlignment`.
    func strides(width: Int, lineAlignment: Int) -> [Int]? {
        guard let planes else { return nil }
        // A packed group is never cut; a subsampled plane's line is the exact part of the first's.
        let unit = max(lineAlignment, planes.count > 1 ? planes.map(\.columns).max() ?? 1 : 1)
        let first = (planes[0].bytesPerRow(width: width) + unit - 1) / unit * unit
        return planes.count > 1 ? planes.map { $0.stride(forFirst: first) } : [first]
    }
}

private enum PlaneTable {
    static let luma = [PixelPlane([.luma])]
    static let planar420 =
        luma + [PixelPlane([.chroma], columns: 2, rows: 2), PixelPlane([.chroma], columns: 2, rows: 2)]
    static let planar422 = luma + [PixelPlane([.chroma], columns: 2), PixelPlane([.chroma], columns: 2)]
    static let planar444 = luma + [PixelPlane([.chroma]), PixelPlane([.chroma])]
    static let semiplanar420 = luma + [PixelPlane([.chroma, .chroma], columns: 2, rows: 2)]
    static let packedLumaFirst = [PixelPlane([.luma, .chroma, .luma, .chroma], columns: 2)]
    static let packedChromaFirst = [PixelPlane([.chroma, .luma, .chroma, .luma], columns: 2)]
    static let packedColors = [PixelPlane([.color, .color, .color])]
}
