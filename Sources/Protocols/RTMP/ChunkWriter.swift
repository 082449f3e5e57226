internal import Wire

/// Cuts messages into chunks (RTMP 1.0 §5.3) for one direction of one connection.
///
/// Formats 0 and 1 begin messages, format 3 continues them and never begins one, because peers disagree on its delta.
/// From 0xFFFFFF on a time is always absolute: SRS before 6.0.167 and 7.0.37 reads an extended delta as absolute
/// (ossrs/srs#4356). The extended timestamp is repeated in each continuation chunk, as nginx-rtmp and FFmpeg expect.
public struct ChunkWriter: Sendable {
    /// Longest message that the three-byte length field can declare.
    public static let maxMessageLength = 0xFF_FFFF

    /// 128 until `setChunkSize`.
    public private(set) var chunkSize = 128

    private struct Previous {
        let chunkStreamID: UInt32
        var timestamp: UInt32
        var streamID: UInt32
    }

    private var previous: [Previous] = []

    public init() {}

    /// Writes Set Chunk Size; it holds for what is appended after it.
    /// - Parameter size: bytes of payload per chunk, 1…0xFFFFFF.
    public mutating func setChunkSize(_ size: Int, to output: inout [UInt8]) {
        precondition((1...0xFF_FFFF).contains(size))
        append(.setChunkSize(UInt32(size)), to: &output)
        chunkSize = size
    }

    /// Appends a message whose body is `prefix` and `payload` together.
    /// - Parameters:
    ///   - streamID: the message stream, 0 for the connection itself.
    ///   - chunkStreamID: 2…65599; nginx-rtmp refuses 32 and above.
    public mutating func append(
        _ type: MessageType, timestamp: UInt32, streamID: UInt32, chunkStreamID: UInt32,
        prefix: ArraySlice<UInt8> = [], payload: ArraySlice<UInt8>, to output: inout [UInt8]
    ) {
        var delta: UInt32?
        if let index = previous.firstIndex(where: { $0.chunkStreamID == chunkStreamID }) {
            let last = previous[index]
            if timestamp < 0xFF_FFFF, timestamp >= last.timestamp, last.streamID == streamID {
                delta = timestamp - last.timestamp
            }
            previous[index].timestamp = timestamp
            previous[index].streamID = streamID
        } else {
            previous.append(Previous(chunkStreamID: chunkStreamID, timestamp: timestamp, streamID: streamID))
        }
        Self.append(
            type, timestamp: timestamp, delta: delta, streamID: streamID, chunkStreamID: chunkStreamID,
            chunkSize: chunkSize, prefix: prefix, payload: payload, to: &output)
    }

    /// Appends a message with all its fields (format 0), which depends on nothing sent before: one encoding serves
    /// every connection with the same chunk size and stream id. Do not mix with the other form on one chunk stream.
    public static func append(
        _ type: MessageType, timestamp: UInt32, streamID: UInt32, chunkStreamID: UInt32, chunkSize: Int,
        prefix: ArraySlice<UInt8> = [], payload: ArraySlice<UInt8>, to output: inout [UInt8]
    ) {
        append(
            type, timestamp: timestamp, delta: nil, streamID: streamID, chunkStreamID: chunkStreamID,
            chunkSize: chunkSize, prefix: prefix, payload: payload, to: &output)
    }

    private static func append(
        _ type: MessageType, timestamp: UInt32, delta: UInt32?, streamID: UInt32, chunkStreamID: UInt32,
        chunkSize: Int, prefix: ArraySlice<UInt8>, payload: ArraySlice<UInt8>, to output: inout [UInt8]
    ) {
        precondition((2...65_599).contains(chunkStreamID))
        let length = prefix.count + payload.count
        precondition(length <= maxMessageLength, "the caller checks the length of what it sends")

        let extended = delta == nil && timestamp >= 0xFF_FFFF ? timestamp : nil
        let continuation = BasicHeader(format: .none, chunkStreamID: chunkStreamID)
        let chunks = max(1, (length + chunkSize - 1) / chunkSize)
        let headers = 18 + (chunks - 1) * (continuation.length + (extended == nil ? 0 : 4))
        output.makeRoom(for: headers + length)

        BasicHeader(format: delta == nil ? .absolute : .delta, chunkStreamID: chunkStreamID).append(to: &output)
        output.appendUInt24(extended == nil ? delta ?? timestamp : 0xFF_FFFF)
        output.appendUInt24(UInt32(length))
        output.append(type.rawValue)
        if delta == nil { output.appendUInt32LittleEndian(streamID) }
        if let extended { output.appendUInt32(extended) }

        var room = chunkSize
        for part in [prefix, payload] {
            var start = part.startIndex
            while start < part.endIndex {
                if room == 0 {
                    continuation.append(to: &output)
                    if let extended { output.appendUInt32(extended) }
                    room = chunkSize
                }
                let end = start + min(room, part.endIndex - start)
                output.append(contentsOf: part[start..<end])
                room -= end - start
                start = end
            }
        }
    }

    /// Appends a control message on chunk stream 2.
    public mutating func append(_ message: ControlMessage, to output: inout [UInt8]) {
        append(message.type, timestamp: 0, streamID: 0, chunkStreamID: 2, payload: message.body[...], to: &output)
    }

    /// Appends a command as AMF0.
    public mutating func append(
        _ command: RTMPCommand, streamID: UInt32, chunkStreamID: UInt32 = 3, to output: inout [UInt8]
    ) {
        append(
            .commandAMF0, timestamp: 0, streamID: streamID, chunkStreamID: chunkStreamID,
            payload: command.encoded()[...], to: &output)
    }
}

extension [UInt8] {
    /// Reserves in steps that double: `reserveCapacity` with the exact count would move everything at each message.
    fileprivate mutating func makeRoom(for more: Int) {
        let needed = count + more
        if needed > capacity { reserveCapacity(Swift.max(needed, 2 * capacity)) }
    }
}
