public import AMF0
public import Media
public import Wire

/// Why a tag, a message body or a file is not FLV that this module reads, or why a frame cannot be written as FLV.
/// Offsets count from the first byte of the body, or of the file.
public enum FLVError: WireFailure, Equatable, Sendable {
    /// The bytes end within a field, or go on after the last.
    case wire(WireError)
    /// A script tag or data message.
    case amf0(AMF0Error)
    /// A sequence header's configuration record, or an access unit.
    case media(MediaError)
    /// A video codec id other than 7 (AVC) and 12 (HEVC by convention).
    case unsupportedVideoCodec(UInt8)
    /// An audio format other than 10 (AAC).
    case unsupportedAudioFormat(UInt8)
    /// An Enhanced RTMP FourCC that is not handled; its four bytes in the order of the wire.
    case unsupportedFourCC(UInt32)
    /// AAC packet type other than 0 and 1.
    case unknownAudioPacketType(UInt8)
    /// Not `17 02 00 00 00 "NTDF"`.
    case notAHeaderFrame
    /// A NanoTDF header of this many bytes does not fit the two-byte length of the header frame, or is empty.
    case headerFrameLength(Int)
    /// A field of onMetaData has a value that it cannot have.
    case invalidMetadata(MetadataField)
    /// Presentation and decoding time are further apart than 24 bits of milliseconds can say.
    case compositionTimeOutOfRange(milliseconds: Int64)
    /// A frame came before the sequence header that explains it.
    case missingSequenceHeader
    /// A sequence header arrived for another codec than the header of its tag names, or the frame's codec changed
    /// without one.
    case codecMismatch
    /// The file does not begin with "FLV" 01, or its header length is impossible.
    case notFLV(offset: Int)
    /// A tag of another type than 8, 9 and 18: the file is damaged here.
    case unknownTagType(UInt8, offset: Int)
    /// A tag declares, or should carry, more bytes than `limit`.
    case tagTooLong(bytes: Int, limit: Int)

    public enum MetadataField: String, Equatable, Sendable {
        case ntdfHeader = "ntdf_header"
    }
}

extension FLVError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "FLV \(error)"
        case .amf0(let error): "FLV data: \(error)"
        case .media(let error): "FLV payload: \(error)"
        case .unsupportedVideoCodec(let id): "FLV video codec \(id) is not handled"
        case .unsupportedAudioFormat(let id): "FLV audio format \(id) is not handled"
        case .unsupportedFourCC(let code): "FourCC 0x\(String(code, radix: 16)) is not handled"
        case .unknownAudioPacketType(let type): "AAC packet type \(type) is unknown"
        case .notAHeaderFrame: "not an NTDF header frame"
        case .headerFrameLength(let length): "an NTDF header frame cannot carry \(length) bytes"
        case .invalidMetadata(let field): "onMetaData has an unreadable \(field.rawValue)"
        case .compositionTimeOutOfRange(let milliseconds): "composition time of \(milliseconds) ms does not fit 24 bits"
        case .missingSequenceHeader: "a frame before its sequence header"
        case .codecMismatch: "a frame of another codec than its sequence header"
        case .notFLV(let offset): "not an FLV file (byte \(offset))"
        case .unknownTagType(let type, let offset): "FLV tag of unknown type \(type) at byte \(offset)"
        case .tagTooLong(let bytes, let limit): "FLV tag of \(bytes) bytes; \(limit) are allowed"
        }
    }
}
