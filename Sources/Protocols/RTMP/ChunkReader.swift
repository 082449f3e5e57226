internal import Wire

/// Puts messages together from a peer's chunk stream (RTMP 1.0 §5.3).
///
/// It governs what follows the handshake in one direction of one connection. Its duties:
/// 1. read all forms of the chunk header, and take a message's bytes as they come (each is copied once);
/// 2. obey Set Chunk Size and Abort, which it hands on as well;
/// 3. hold no more than `limits` allow: lengths are checked when they are declared, memory grows with what was received.
///
/// The odd case is the extended timestamp. Most peers repeat its four bytes in every continuation chunk, rtmpdump
/// leaves them out: so they are taken when they equal what the message's first chunk said, else they are payload.
public struct ChunkReader: Sendable {
    /// May be changed at any time; holds from the next message header on.
    public var limits: ChunkLimits
    /// The peer's chunk size, 128 until it says otherwise.
    public private(set) var chunkSize = 128
    /// Bytes read so far.
    public private(set) var offset = 0

    /// Bytes taken and not read yet; none after `next` has returned nil.
    public var unreadBytes: Int { input.count }

    /// A message, or its header, has begun and not ended.
    public var isInsideMessage: Bool { partialBytes > 0 || current != nil || !carry.isEmpty }
    /// Memory that is held for unfinished messages.
    var heldBytes: Int { streams.reduce(carry.capacity + input.count) { $0 + $1.payload.capacity } }

    private var input: ArraySlice<UInt8> = []
    /// The beginning of a chunk header whose end has not come yet; shorter than `maxHeaderLength`.
    private var carry: [UInt8] = []
    private var streams: [ChunkStream] = []
    /// The stream whose chunk is being read, and how much of that chunk is still to come.
    private var current: (index: Int, remaining: Int)?
    private var partialBytes = 0
    private var work = (all: 0, thin: 0)
    private var failure: RTMPError?

    /// Basic header 3, message header 11, extended timestamp 4.
    private static let maxHeaderLength = 18
    /// A chunk with less payload than this counts as thin, see `RTMPError.headerFlood`. Acknowledgements carry 4.
    private static let thinPayload = 4

    public init(limits: ChunkLimits = ChunkLimits()) {
        self.limits = limits
    }

    /// Takes what the peer sent. The bytes are referred to, not copied, if `next` was called until it returned nil.
    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        guard failure == nil, !bytes.isEmpty else { return }
        if input.isEmpty {
            input = bytes
        } else {
            input.append(contentsOf: bytes)
        }
    }

    /// The next whole message, or nil when more bytes are needed. After an error it throws the same one for ever.
    public mutating func next() throws(RTMPError) -> RTMPMessage? {
        if let failure { throw failure }
        do throws(RTMPError) {
            return try advance()
        } catch {
            failure = error
            input = []
            carry = []
            streams = []
            current = nil
            throw error
        }
    }

    private mutating func advance() throws(RTMPError) -> RTMPMessage? {
        while true {
            if current == nil {
                guard try readHeader() else { return nil }
            }
            guard try readPayload() else { return nil }
            if let message = try finishMessage() { return message }
        }
    }

    // MARK: Payload

    /// True when the current chunk is complete.
    private mutating func readPayload() throws(RTMPError) -> Bool {
        guard let (index, remaining) = current else { return false }
        let count = min(remaining, input.count)
        if count > 0 {
            let end = input.startIndex + count
            guard partialBytes + count <= limits.partialBytes else {
                throw .partialMessagesTooLarge(limit: limits.partialBytes, offset: offset)
            }
            partialBytes += count
            streams[index].take(input[input.startIndex..<end], available: min(input.count, limits.reserve))
            input = input[end...]
            offset += count
        }
        if input.isEmpty { input = [] }  // lets go of the caller's buffer
        current = (index, remaining - count)
        return count == remaining
    }

    /// Ends the current chunk; returns the message when that was its last one.
    private mutating func finishMessage() throws(RTMPError) -> RTMPMessage? {
        guard let (index, _) = current else { return nil }
        current = nil
        guard streams[index].payload.count == streams[index].length else { return nil }
        let message = streams[index].finish()
        partialBytes -= message.payload.count
        if message.type == .setChunkSize {
            chunkSize = try size(in: message)
        } else if message.type == .abort {
            abort(try firstField(of: message))
        }
        return message
    }

    private func size(in message: RTMPMessage) throws(RTMPError) -> Int {
        let size = try firstField(of: message)
        guard size >= 1, size <= UInt32(clamping: limits.chunkSize) else {
            throw .invalidChunkSize(size, offset: offset)
        }
        return Int(size)
    }

    private func firstField(of message: RTMPMessage) throws(RTMPError) -> UInt32 {
        var reader = ByteReader(message.payload)
        guard let field = try? reader.readUInt32() else {
            throw .malformedControl(message.type, length: message.payload.count, offset: offset)
        }
        return field
    }

    private mutating func abort(_ id: UInt32) {
        guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
        partialBytes -= streams[index].payload.count
        streams[index].abandon()
    }

    // MARK: Headers

    /// True when a whole chunk header was read and `current` is set.
    private mutating func readHeader() throws(RTMPError) -> Bool {
        let carried = carry.count
        guard carried > 0 else {
            guard let length = try parseHeader(input) else {
                carry.append(contentsOf: input)
                input = []
                return false
            }
            input = input.dropFirst(length)
            offset += length
            return true
        }
        let added = min(Self.maxHeaderLength - carried, input.count)
        carry.append(contentsOf: input.prefix(added))
        guard let length = try parseHeader(carry[...]) else {
            input = []  // a header is complete at 18 bytes, so all of it was taken
            return false
        }
        if length >= carried {
            input = input.dropFirst(length - carried)
        } else {
            // What looked like the start of a repeated extended timestamp is payload.
            input = carry[length..<carried] + input
        }
        carry.removeAll(keepingCapacity: true)
        offset += length
        return true
    }

    /// The length of the chunk header at the start of `bytes`, applied; nil, and nothing changed, when it is
    /// incomplete.
    private mutating func parseHeader(_ bytes: ArraySlice<UInt8>) throws(RTMPError) -> Int? {
        guard let basic = BasicHeader(bytes) else { return nil }
        let known = streams.firstIndex { $0.id == basic.chunkStreamID }
        let inside = known.map { streams[$0].isInside } ?? false
        guard !inside || basic.format == .none else {
            throw .headerInsideMessage(chunkStreamID: basic.chunkStreamID, offset: offset)
        }
        // librtmp opens a chunk stream with format 1 (ossrs/srs#98): stream id 0 and time 0 are what it means.
        guard known != nil || basic.format == .absolute || basic.format == .delta else {
            throw .noPreviousHeader(chunkStreamID: basic.chunkStreamID, offset: offset)
        }
        guard known != nil || streams.count < limits.chunkStreams else {
            throw .tooManyChunkStreams(limit: limits.chunkStreams, offset: offset)
        }

        var stream = known.map { streams[$0].fields } ?? HeaderFields()
        guard
            let length = inside
                ? stream.lengthOfContinuation(bytes.dropFirst(basic.length))
                : stream.read(bytes.dropFirst(basic.length), format: basic.format)
        else { return nil }
        guard inside || stream.length <= limits.messageLength else {
            throw .messageTooLong(length: stream.length, limit: limits.messageLength, offset: offset)
        }

        let index = known ?? streams.count
        if known == nil { streams.append(ChunkStream(id: basic.chunkStreamID)) }
        if !inside { streams[index].begin(stream) }
        let payload = min(chunkSize, stream.length - streams[index].payload.count)
        try account(header: basic.length + length, payload: payload)
        current = (index, payload)
        return basic.length + length
    }

    private mutating func account(header: Int, payload: Int) throws(RTMPError) {
        work.all += header + payload
        if payload < Self.thinPayload { work.thin += header + payload }
        guard work.all >= limits.workWindow else { return }
        guard work.thin <= work.all / 2 else { throw .headerFlood(offset: offset) }
        work = (0, 0)
    }
}
