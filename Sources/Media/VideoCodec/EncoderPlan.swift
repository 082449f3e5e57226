/// What a camera needs from an encoder.
public struct EncoderRequest: Equatable, Sendable {
    /// FFmpeg's names, best first.
    public var encoders: [String]
    /// Pixels, even.
    public var width: Int
    public var height: Int
    /// Frames per second.
    public var rate: Double
    public var bitsPerSecond: Int

    public init(
        encoders: [String] = VideoEncoderConfiguration.automaticEncoders, width: Int, height: Int, rate: Double,
        bitsPerSecond: Int
    ) {
        self.encoders = encoders
        self.width = width
        self.height = height
        self.rate = rate
        self.bitsPerSecond = bitsPerSecond
    }
}

/// Which encoder a camera uses, for what size and rate, and why.
public struct EncoderPlan: Codable, Equatable, Sendable {
    /// FFmpeg's name.
    public var encoder: String
    public var isHardware: Bool
    /// Encoders that would have been better, each with why it is not used.
    public var passedOver: [EncoderRejection] = []
    /// What was found of this one, as text.
    public var finding: String
    /// Pixels, even; less than asked for where the machine cannot hold it.
    public var width: Int
    public var height: Int
    /// Frames per second.
    public var rate: Double
    /// Of libx264 and libx265; empty for others.
    public var preset = ""
    /// What was requested, what is held, and why, as a message; nil: all as requested.
    public var limit: String?
    /// The hardware encoder was passed over because it failed, or hung again and again.
    public var isHardwareOff = false
    /// When hardware that was passed over is to be tried again, in seconds since boot (`EncoderCache.now`); nil: there
    /// is none.
    public var hardwareOffUntil: Double?

    /// A message: each encoder that was passed over, and this one, with the reason.
    public var reason: String {
        (passedOver.map { "\($0.encoder): \($0.reason)" } + ["\(encoder): \(finding)"]).joined(separator: "; ")
    }

    /// Takes over what another plan of the same camera says of hardware, and nothing else.
    public mutating func takeHardwareState(of other: EncoderPlan) {
        passedOver = other.passedOver
        isHardwareOff = other.isHardwareOff
        hardwareOffUntil = other.hardwareOffUntil
    }

    /// For a `VideoEncoder` that does as planned.
    public func configuration(bitsPerSecond: Int, keyFrameInterval: Double) -> VideoEncoderConfiguration {
        var configuration = VideoEncoderConfiguration(
            width: width, height: height, frameRate: rate, bitsPerSecond: bitsPerSecond)
        configuration.keyFrameInterval = keyFrameInterval
        configuration.encoders = [encoder]
        if !preset.isEmpty { configuration.preset = preset }
        return configuration
    }
}
