/// What a `VideoEncoder` is asked for.
public struct VideoEncoderConfiguration: Equatable, Sendable {
    /// Pixels; even, because chroma has half the size.
    public var width: Int
    public var height: Int
    /// What to open for; the encoder follows its frames' format, range and matrix as far as it can.
    public var pixelFormat: PixelFormat = .yuv420p
    /// Samples use all values from 0 to 255. Only software encoders can say so in the stream; others refuse it.
    public var isFullRange = false
    /// How red, green and blue became the samples.
    public var colorMatrix: ColorMatrix = .unspecified
    /// Frames per second.
    public var frameRate: Double
    public var bitsPerSecond: Int
    /// Seconds from one key frame to the next, by the frames' presentation times.
    public var keyFrameInterval: Double = 2
    /// FFmpeg's names, in the order in which they are tried.
    public var encoders: [String] = ["libx264", "libopenh264"]
    /// Of libx264 and libx265.
    public var preset: String = "veryfast"
    /// 0: as many as the encoder sees fit.
    public var threads: Int = 0
    /// Of a V4L2 encoder: buffers for access units (4…64). With few, a driver that has none left at the wrong moment
    /// never answers again (n0rt0nthec4t/homebridge-nest-accfactory#344).
    public var captureBuffers: Int = 32
    /// Of a V4L2 encoder: buffers for frames to be encoded (2…64).
    public var outputBuffers: Int = 16

    /// The encoders that a camera tries by itself, best first.
    public static let automaticEncoders = ["h264_v4l2m2m", "libx264", "libopenh264"]

    public init(width: Int, height: Int, frameRate: Double, bitsPerSecond: Int) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.bitsPerSecond = bitsPerSecond
    }

    /// Frames from one key frame to the next, at least one.
    var framesPerKeyFrame: Int {
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
        guard (16...VideoFrame.maxSide).contains(width), width.isMultiple(of: 2) else {
            throw .invalid(.width, value: width)
        }
        guard (16...VideoFrame.maxSide).contains(height), height.isMultiple(of: 2) else {
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
        guard (4...64).contains(captureBuffers) else { throw .invalid(.bufferCount, value: captureBuffers) }
        guard (2...64).contains(outputBuffers) else { throw .invalid(.bufferCount, value: outputBuffers) }
    }
}

extension Double {
    func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
