/// Why frames or audio could not be encoded.
public enum VideoCodecError: Error, Equatable, Sendable {
    /// A libav library is not on this machine, or is another version. The message names the package to install.
    case libraryMissing(String)
    /// A libav function failed: its name, its code (negative, AVERROR) and what libav says about it.
    case failed(call: String, code: Int32, message: String)
    /// None of the encoders asked for could be opened.
    case noEncoder([EncoderRejection])
    /// libav has no decoder for this codec, by FFmpeg's name.
    case noDecoder(String)
    /// A size, rate or count that no encoder takes.
    case invalid(Parameter, value: Int)
    /// A frame of another size or pixel format than the encoder was opened for.
    case frameMismatch(expected: String, actual: String)
    /// The encoder's output holds no parameter sets that could be read, or no NAL units.
    case malformedOutput(String)
    /// What should be a JPEG image is not one, is damaged, or is larger than is accepted.
    case malformedFrame(String)
    /// No JPEG could be made of an access unit.
    case frameFailed(String)
    /// A frame of a pixel format on which this cannot be done.
    case unsupportedFrame(what: String, frame: String)
    /// A rectangle that is not inside the image.
    case invalidMask(String)

    public enum Parameter: String, Equatable, Sendable {
        case width, height, frameRate, bitsPerSecond, keyFrameInterval, sampleRate, channels, sampleCount, pixelCount
        case planes, lineSize, lineAlignment, quality, bufferCount
    }
}

/// One encoder that was tried and not taken.
public struct EncoderRejection: Codable, Equatable, Sendable {
    /// FFmpeg's name of the encoder.
    public var encoder: String
    public var reason: String
}

extension VideoCodecError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .libraryMissing(let message): message
        case .failed(let call, _, let message): "\(call): \(message)"
        case .noEncoder(let rejections):
            rejections.isEmpty
                ? "no encoder was named"
                : "no encoder works: " + rejections.map { "\($0.encoder): \($0.reason)" }.joined(separator: "; ")
        case .noDecoder(let codec): "this libavcodec has no decoder for \(codec)"
        case .invalid(let parameter, let value): "\(parameter.rawValue) \(value) is out of range"
        case .frameMismatch(let expected, let actual): "a frame of \(actual) where \(expected) is expected"
        case .malformedOutput(let reason): "the encoder's output cannot be read: \(reason)"
        case .malformedFrame(let reason): "the image is not a JPEG that can be used: \(reason)"
        case .frameFailed(let reason): "no frame could be made: \(reason)"
        case .unsupportedFrame(let what, let frame): "\(what) is not possible with a frame of \(frame)"
        case .invalidMask(let reason): "the mask cannot be drawn: \(reason)"
        }
    }
}
