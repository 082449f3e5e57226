/// FFmpeg's names.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
    case h264, hevc
}

/// FFmpeg's names.
public enum AudioCodec: String, Hashable, Sendable, CaseIterable {
    case aac
}

/// What a decoder must know before the first frame.
public struct VideoFormat: Equatable, Sendable {
    public var codec: VideoCodec
    /// Pixels, as shown (after cropping).
    public var width: Int
    public var height: Int
    /// Frames per second; nil when the source does not say.
    public var frameRate: Double?
    /// AVCDecoderConfigurationRecord or HEVCDecoderConfigurationRecord with 4-byte NAL unit lengths (ISO/IEC 14496-15).
    public var configurationRecord: [UInt8]

    public init(codec: VideoCodec, width: Int, height: Int, frameRate: Double?, configurationRecord: [UInt8]) {
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.configurationRecord = configurationRecord
    }
}

/// What a decoder must know before the first audio frame.
public struct AudioFormat: Equatable, Sendable {
    public var codec: AudioCodec
    /// Samples per second.
    public var sampleRate: Int
    public var channels: Int
    /// 2 to 64 bytes (ISO/IEC 14496-3 §1.6.2.1).
    public var audioSpecificConfig: [UInt8]

    public init(codec: AudioCodec, sampleRate: Int, channels: Int, audioSpecificConfig: [UInt8]) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channels = channels
        self.audioSpecificConfig = audioSpecificConfig
    }
}

/// What a source hands on, in decoding order. A format comes before the first unit that needs it, and again when it
/// changes.
public enum MediaEvent: Equatable, Sendable {
    case videoFormat(VideoFormat)
    case audioFormat(AudioFormat)
    case accessUnit(AccessUnit)
}
