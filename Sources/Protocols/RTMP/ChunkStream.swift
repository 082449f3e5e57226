/// Chunk header formats (RTMP 1.0 §5.3.1.2): what a message header repeats from the one before it.
enum ChunkFormat: UInt8 {
    /// Timestamp, length, type, message stream id.
    case absolute = 0
    /// Timestamp delta, length, type.
    case delta = 1
    /// Timestamp delta.
    case deltaOnly = 2
    /// Nothing: a continuation, or a message like the last one.
    case none = 3

    /// Bytes of the message header, without the extended timestamp.
    var fieldsLength: Int {
        switch self {
        case .absolute: 11
        case .delta: 7
        case .deltaOnly: 3
        case .none: 0
        }
    }
}

/// Format and chunk stream id in one, two or three bytes (RTMP 1.0 §5.3.1.1).
struct BasicHeader: Equatable {
    var format: ChunkFormat
    /// 2…65599.
    var chunkStreamID: UInt32
    var length: Int

    /// Nil when `bytes` end within it.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, let format = ChunkFormat(rawValue: first >> 6) else { return nil }
        self.format = format
        let start = bytes.startIndex
        switch first & 63 {
        case 0:
            guard bytes.count >= 2 else { return nil }
            chunkStreamID = 64 + UInt32(bytes[start + 1])
            length = 2
        case 1:
            guard bytes.count >= 3 else { return nil }
            chunkStreamID = 64 + UInt32(bytes[start + 1]) + UInt32(bytes[start + 2]) << 8
            length = 3
        default:
            chunkStreamID = UInt32(first & 63)
            length = 1
        }
    }

    init(format: ChunkFormat, chunkStreamID: UInt32) {
        self.format = format
        self.chunkStreamID = chunkStreamID
        length = chunkStreamID < 64 ? 1 : chunkStreamID < 320 ? 2 : 3
    }

    func append(to output: inout [UInt8]) {
        let form = format.rawValue << 6
        switch length {
        case 1:
            output.append(form | UInt8(truncatingIfNeeded: chunkStreamID))
        case 2:
            output.append(form)
            output.append(UInt8(truncatingIfNeeded: chunkStreamID - 64))
        default:
            output.append(form | 1)
            output.append(UInt8(truncatingIfNeeded: chunkStreamID - 64))
            output.append(UInt8(truncatingIfNeeded: (chunkStreamID - 64) >> 8))
        }
    }
}

/// What a chunk stream remembers of its last message header.
struct HeaderFields {
    var timestamp: UInt32 = 0
    /// Repeated by format 3 at the start of a message. 0 after format 0: peers differ, and this is how nginx-rtmp
    /// reads.
    var delta: UInt32 = 0
    /// Bytes, 0…0xFFFFFF.
    var length = 0
    var type = MessageType(rawValue: 0)
    var streamID: UInt32 = 0
    /// The four bytes as they were sent, if the three-byte field was 0xFFFFFF.
    var extended: UInt32?

    /// Reads the header of a new message; the count of bytes read, or nil when they are not all there.
    mutating func read(_ bytes: ArraySlice<UInt8>, format: ChunkFormat) -> Int? {
        var length = format.fieldsLength
        guard bytes.count >= length else { return nil }
        if format == .none {
            // The delta of the last header counts again, and so does its extension.
            guard let repeated = lengthOfContinuation(bytes) else { return nil }
            timestamp &+= delta
            return repeated
        }
        let at = bytes.startIndex
        var time = UInt32(bytes[at]) << 16 | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2])
        let isExtended = time == 0xFF_FFFF
        if isExtended {
            guard bytes.count >= length + 4 else { return nil }
            time = bytes.bigEndian(at: at + length)
            length += 4
        }
        extended = isExtended ? time : nil
        if format != .deltaOnly {
            self.length = Int(bytes[at + 3]) << 16 | Int(bytes[at + 4]) << 8 | Int(bytes[at + 5])
            type = MessageType(rawValue: bytes[at + 6])
        }
        if format == .absolute {
            streamID = bytes.bigEndian(at: at + 7).byteSwapped
            timestamp = time
            delta = 0
        } else {
            timestamp &+= time
            delta = time
        }
        return length
    }

    /// 4 when `bytes` begin with the repeated extended timestamp, 0 when they begin with payload, nil when too few came
    /// to tell. SRS repeats the absolute time after a delta, others what the first chunk said.
    func lengthOfContinuation(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let extended else { return 0 }
        let count = min(4, bytes.count)
        for candidate in [extended, timestamp] {
            let matches = (0..<count).allSatisfy { index in
                bytes[bytes.startIndex + index] == UInt8(truncatingIfNeeded: candidate >> UInt32(24 - 8 * index))
            }
            if matches { return count == 4 ? 4 : nil }
        }
        return 0
    }
}

/// One chunk stream of a reader: the last header and the message under construction.
struct ChunkStream {
    let id: UInt32
    private(set) var fields = HeaderFields()
    /// What has come of the unfinished message.
    private(set) var payload: [UInt8] = []
    /// Between the first chunk of a message and its last.
    private(set) var isInside = false

    init(id: UInt32) { self.id = id }

    var length: Int { fields.length }

    mutating func begin(_ header: HeaderFields) {
        fields = header
        isInside = true
    }

    /// - Parameter available: bytes of input at hand, of this message or others: reserving as much at once can cost a
    ///   peer's victim no more than what that peer has already sent.
    mutating func take(_ bytes: ArraySlice<UInt8>, available: Int) {
        if payload.isEmpty {
            payload.reserveCapacity(min(fields.length, max(available, bytes.count)))
        } else if payload.capacity < payload.count + bytes.count {
            let capacity = max(2 * payload.count, payload.count + max(available, bytes.count))
            payload.reserveCapacity(min(fields.length, capacity))
        }
        payload.append(contentsOf: bytes)
    }

    mutating func finish() -> RTMPMessage {
        isInside = false
        var whole: [UInt8] = []
        swap(&whole, &payload)
        return RTMPMessage(
            type: fields.type, timestamp: fields.timestamp, streamID: fields.streamID, payload: whole)
    }

    mutating func abandon() {
        isInside = false
        payload = []
    }
}

extension ArraySlice<UInt8> {
    /// The caller has made sure that four bytes are there.
    fileprivate func bigEndian(at index: Int) -> UInt32 {
        UInt32(self[index]) << 24 | UInt32(self[index + 1]) << 16 | UInt32(self[index + 2]) << 8
            | UInt32(self[index + 3])
    }
}
