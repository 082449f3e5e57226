/// What a `VideoEncoder` is asked for.
public struct VideoEncoderConfiguration: Equatable, Sendable {
    /// Pixels; even, because chroma has half the size.
    public var width: Int
    public var height: Int
    public var pixelFormat: PixelFormat = .yuv420p
    /// Pictures per second.
    public var frameRate: Double
    public var bitsPerSecond: Int
    /// Seconds from one key frame to the next.
    public var keyFrameInterval: Double = 2
    /// FFmpeg's names, in the order in which they are tried.
    public var encoders: [String] = ["libx264", "libopenh264"]
    /// Of libx264 and libx265.
    public var preset: String = "veryfast"
    /// 0: as many as the encoder sees fit.
    public var threads: Int = 0

    public init(width: Int, height: Int, frameRate: Double, bitsPerSecond: Int) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.bitsPerSecond = bitsPerSecond
    }

    /// Pictures from one key frame to the next, at least one.
    var picturesPerKeyFrame: Int {
        Int((keyFrameInterval * frameRate).rounded().clamped(to: 1...100_000))
    }

    /// The rate as a fraction; exact for whole rates and for NTSC's 30000/1001 and its kin.
    var frameRateFraction: (numerator: Int32, denominator: Int32) {
        if frameRate == frameRate.rounded() { return (Int32(frameRate), 1) }
        let ntsc = frameRate * 1001 / 1000
        if abs(ntsc - ntsc.rounded()) < 0.001 { return (Int32(ntsc.rounded()) * 1000, 1001) }
        return (Int32((frameRate * 1000).rounded()), 1000)
    }

    func validate() throws(VideoCodecError) {
        guard (16...RawPicture.longestSide).contains(width), width.isMultiple(of: 2) else {
            throw .invalid(.width, value: width)
        }
        guard (16...RawPicture.longestSide).contains(height), height.isMultiple(of: 2) else {
            throw .invalid(.height, value: height)
        }
        guard frameRate >= 0.1, frameRate <= 1000 else {
            throw .invalid(.frameRate, value: Int(exactly: frameRate.rounded()) ?? 0)
        }
        guard (8_000...1_000_000_000).contains(bitsPerSecond) else {
            throw .invalid(.bitsPerSecond, value: bitsPerSecond)
        }
        guard keyFrameInterval > 0, keyFrameInterval <= 3600 else {
            throw .invalid(.keyFrameInterval, value: Int(exactly: keyFrameInterval.rounded()) ?? 0)
        }
    }
}

extension Double {
    func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
