/// Fields that the parameter sets of H.264 and H.265 share.
extension BitReader {
    /// Four crop offsets, left, right, top, bottom, in units of `unitX` and `unitY` pixels; returns what they leave.
    mutating func cropped(
        width: Int, height: Int, unitX: Int, unitY: Int
    ) throws(MediaError) -> (width: Int, height: Int) {
        let left = Int(try unsignedExpGolomb())
        let right = Int(try unsignedExpGolomb())
        let top = Int(try unsignedExpGolomb())
        let bottom = Int(try unsignedExpGolomb())
        let cropX = (left + right) * unitX
        let cropY = (top + bottom) * unitY
        guard cropX < width, cropY < height else {
            throw .invalid(.croppingWindow, value: UInt64(max(cropX, cropY)), offset: offset)
        }
        return (width - cropX, height - cropY)
    }

    /// The beginning of the VUI, the same in both (H.264 §E.1.1, H.265 §E.2.1): aspect ratio, overscan, video signal
    /// type, chroma location.
    mutating func passVUIUpToChromaLocation() throws(MediaError) {
        let extendedAspectRatio: UInt32 = 255
        if try flag(), try bits(8) == extendedAspectRatio { try skip(32) }
        if try flag() { try skip(1) }
        if try flag() {
            try skip(4)
            if try flag() { try skip(24) }
        }
        if try flag() {
            _ = try unsignedExpGolomb()
            _ = try unsignedExpGolomb()
        }
    }
}
