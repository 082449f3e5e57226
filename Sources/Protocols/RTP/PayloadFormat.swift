/// What the payload of a stream's packets is, as its session description says.
public enum PayloadFormat: Equatable, Sendable {
    /// RFC 6184.
    ///
    /// - parameterSets: NAL units of `sprop-parameter-sets`; may be none, may be junk. Used until the stream brings
    ///   some.
    case h264(parameterSets: [[UInt8]])
    /// RFC 7798.
    ///
    /// - parameterSets: NAL units of `sprop-vps`, `sprop-sps` and `sprop-pps`; may be none, may be junk.
    /// - hasDecodingOrder: `sprop-max-don-diff` is above 0: decoding order numbers stand in the payload.
    case hevc(parameterSets: [[UInt8]], hasDecodingOrder: Bool)
    /// RFC 3640, modes AAC-hbr and AAC-lbr.
    ///
    /// - configuration: AudioSpecificConfig, of `config`.
    /// - sizeLength, indexLength, indexDeltaLength: bits of the fields of an AU header.
    case aac(configuration: [UInt8], sizeLength: Int, indexLength: Int, indexDeltaLength: Int)
    /// G.711 µ-law (RFC 3551 §4.5.14).
    case pcmu
    /// G.711 A-law (RFC 3551 §4.5.14).
    case pcma
    /// A packet is what a decoder takes at a time: Opus (RFC 7587), G.726 (RFC 3551 §4.5.4).
    case packets
    /// RFC 2435, with ONVIF's header extension for large images (ONVIF Streaming Specification, 5.1.4.1.3).
    case jpeg
}

/// A frame's size in pixels.
public struct FrameDimensions: Equatable, Sendable {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }
}
