internal import CAVCodec

/// What is known of an encoder beforehand, by its name in FFmpeg.
struct EncoderTraits: Equatable, Sendable {
    let name: String

    /// libavcodec's wrapper of a V4L2 memory-to-memory device.
    var isM2M: Bool { name.hasSuffix("_v4l2m2m") }

    var isSoftware: Bool { Self.software.contains(name) }

    /// libavcodec compares the rate with the encoder's before each frame, and reconfigures it.
    var followsRate: Bool { name == "libx264" }

    var hasPresets: Bool { name == "libx264" || name == "libx265" }

    /// Of time stamps. A V4L2 encoder's go through microseconds, and must come back as they went; others get a unit
    /// that divides the usual frame rates, and is MPEG's own.
    var ticksPerSecond: Int64 { isM2M ? 1_000_000 : 90_000 }

    /// Which formats it encodes when it was opened with `opened`, that one first.
    func pixelFormats(openedWith opened: PixelFormat) -> [PixelFormat] {
        let others: [PixelFormat] = name == "libx264" ? [.yuv420p, .nv12] : []
        return [opened] + others.filter { $0 != opened }
    }

    /// Bytes of which the length of a row must be a multiple. The driver of the Raspberry Pi's encoder takes 64 for
    /// planar frames and 32 for NV12, and libavcodec copies rows as they are.
    func lineAlignment(_ pixelFormat: PixelFormat) -> Int {
        isM2M && pixelFormat != .nv12 ? 64 : 32
    }

    /// Frames from one key frame to the next, as the encoder itself counts them.
    func frames(perKeyFrame requested: Int) -> Int {
        // Software does as it is asked, so that the clock alone decides, which follows time and not the count.
        isSoftware ? Self.maxDistance : requested
    }

    private static let software: Set<String> = ["libx264", "libx264rgb", "libx265", "libopenh264", "libkvazaar"]
    private static let maxDistance = 1_000_000
}
