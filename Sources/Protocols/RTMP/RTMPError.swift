public import AMF0

/// Why a peer's bytes are not RTMP that we accept. Connection scope. Offsets count bytes of the chunk stream, that is
/// from the first byte after the handshake, so that the place can be found in a capture.
public enum RTMPError: Error, Equatable, Sendable {
    /// C0 or S0 named a version other than 3 (6 is RTMPE).
    case unsupportedVersion(UInt8)
    /// A message was declared longer than `limit`; nothing was allocated for it.
    case messageTooLong(length: Int, limit: Int, offset: Int)
    /// Unfinished messages would hold more than `limit` bytes.
    case partialMessagesTooLarge(limit: Int, offset: Int)
    /// More than `limit` chunk stream ids in use.
    case tooManyChunkStreams(limit: Int, offset: Int)
    /// A Set Chunk Size of 0, with the top bit set, or above the limit.
    case invalidChunkSize(UInt32, offset: Int)
    /// Format 2 or 3 on a chunk stream that has no header to repeat.
    case noPreviousHeader(chunkStreamID: UInt32, offset: Int)
    /// Format 0, 1 or 2 while a message of that chunk stream is unfinished.
    case headerInsideMessage(chunkStreamID: UInt32, offset: Int)
    /// More than half of the last `ChunkLimits.workWindow` bytes came in chunks with fewer than 4 bytes of payload:
    /// work without content (Red5/red5-server#475).
    case headerFlood(offset: Int)
    /// Audio, video or data from a client that does not publish.
    case unexpectedMedia(MessageType, offset: Int)
    /// A control message whose body is shorter than its fields. The offset is that of the byte after it.
    case malformedControl(MessageType, length: Int, offset: Int)
    /// The body of a command is not AMF0 that we accept; its offset counts from the start of the body.
    case malformedCommand(AMF0Error)
    /// A command of so many values that does not begin with a name.
    case incompleteCommand(valueCount: Int)
    /// An aggregate message whose tags do not fit; the offset counts from the start of its body.
    case malformedAggregate(offset: Int)
}

extension RTMPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedVersion(let version):
            "the peer speaks RTMP version \(version), not 3"
        case .messageTooLong(let length, let limit, let offset):
            "a message of \(length) bytes was declared at byte \(offset); the limit is \(limit)"
        case .partialMessagesTooLarge(let limit, let offset):
            "unfinished messages exceed \(limit) bytes at byte \(offset)"
        case .tooManyChunkStreams(let limit, let offset):
            "more than \(limit) chunk streams at byte \(offset)"
        case .invalidChunkSize(let size, let offset):
            "chunk size \(size) at byte \(offset)"
        case .noPreviousHeader(let id, let offset):
            "chunk stream \(id) begins without a header at byte \(offset)"
        case .headerInsideMessage(let id, let offset):
            "a new header inside a message of chunk stream \(id) at byte \(offset)"
        case .headerFlood(let offset):
            "the input up to byte \(offset) is mostly chunk headers"
        case .unexpectedMedia(let type, let offset):
            "\(type) at byte \(offset) from a client that does not publish"
        case .malformedControl(let type, let length, let offset):
            "\(type) of \(length) bytes at byte \(offset)"
        case .malformedCommand(let error):
            "a command that is not AMF0: \(error)"
        case .incompleteCommand(let count):
            "a command of \(count) values without a name"
        case .malformedAggregate(let offset):
            "an aggregate message breaks at byte \(offset)"
        }
    }
}
