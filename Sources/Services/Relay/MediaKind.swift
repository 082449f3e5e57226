internal import FLV
internal import RTMP

/// What the relay must know of a publisher's message. It is read from the clear prefix; the payload behind it may be
/// encrypted and is never looked at.
enum MediaKind: Equatable, Sendable {
    case metadata
    /// A data message other than `onMetaData`: passed on, not kept.
    case data
    case videoHeader
    case audioHeader
    /// The in-band NanoTDF header frame. Its frame type says "key frame", but no decoder can begin with it.
    case ntdfHeader
    case video(isKeyFrame: Bool)
    case audio

    /// What must not be lost: without it nothing after it can be read.
    var isHeader: Bool {
        switch self {
        case .metadata, .data, .videoHeader, .audioHeader, .ntdfHeader: true
        case .video, .audio: false
        }
    }

    var isVideoFrame: Bool {
        if case .video = self { true } else { false }
    }

    var isKeyFrame: Bool { self == .video(isKeyFrame: true) }

    static func video(body: ArraySlice<UInt8>) -> MediaKind {
        if NTDFHeaderFrame.matches(body) { return .ntdfHeader }
        guard let header = try? VideoTagHeader.parse(body).header else { return unknownVideo(body) }
        switch header.kind {
        case .sequenceHeader: return .videoHeader
        case .codedFrame, .other: return .video(isKeyFrame: header.isKeyFrame)
        case .endOfSequence, .command: return .video(isKeyFrame: false)
        // Colour information: small, and what follows is shown wrongly without it.
        case .metadata: return .data
        case .ntdfHeader: return .ntdfHeader
        }
    }

    /// A codec that the FLV reader does not know passes all the same: frame type and packet type stand in one place.
    private static func unknownVideo(_ body: ArraySlice<UInt8>) -> MediaKind {
        let first = body.first ?? 0
        if first & 0x80 != 0, first & 0x0F == 0 { return .videoHeader }
        return .video(isKeyFrame: first >> 4 & 7 == 1)
    }

    static func audio(body: ArraySlice<UInt8>) -> MediaKind {
        guard body.count >= 2 else { return .audio }
        let first = body[body.startIndex]
        // AAC (format 10) packet type 0; in Enhanced RTMP (format 9) the low four bits are the packet type.
        if first >> 4 == 10 { return body[body.startIndex + 1] == 0 ? .audioHeader : .audio }
        return first == 0x90 ? .audioHeader : .audio
    }
}

/// A data message (type 18 or 15), taken apart no further than a relay must.
struct DataMessage: Equatable {
    var kind: MediaKind
    /// What players get: without `@setDataFrame`, which is an order to the relay, everything else byte for byte.
    var body: ArraySlice<UInt8>

    private static let setDataFrame = string("@setDataFrame")
    private static let clearDataFrame = string("@clearDataFrame")
    private static let onMetaData = string("onMetaData")

    /// Nil for `@clearDataFrame` and for an empty message.
    init?(_ payload: [UInt8], type: MessageType) {
        // Type 15 is AMF3 by name: one zero byte, then AMF0 in practice.
        var body = type == .dataAMF3 && payload.first == 0 ? payload.dropFirst() : payload[...]
        guard !body.isEmpty, !body.starts(with: Self.clearDataFrame) else { return nil }
        if body.starts(with: Self.setDataFrame) { body = body.dropFirst(Self.setDataFrame.count) }
        kind = body.starts(with: Self.onMetaData) ? .metadata : .data
        self.body = body
    }

    /// AMF0's short string.
    private static func string(_ text: String) -> [UInt8] {
        [2, 0, UInt8(text.utf8.count)] + text.utf8
    }
}
