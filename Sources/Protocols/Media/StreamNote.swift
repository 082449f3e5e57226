internal import Wire

/// What a publisher seals into its stream, beside the media, so that a viewer can tell what it sees: when that was, and
/// which collection came before (wire-format.md, "Notes").
///
/// It travels where every decoder passes over it: in an SEI unit of user data within a video access unit (ITU-T H.264
/// §D.1.7, H.265 §D.2.7), in a data stream element in front of an AAC frame (ISO/IEC 14496-3 §4.4.2.1).
public struct StreamNote: Equatable, Sendable {
    /// When the unit that carries the note was captured, in Unix milliseconds, and who says so.
    public enum Time: Equatable, Sendable {
        /// The publisher does not know what time it is.
        case unset
        /// The publisher's own clock.
        case system(Int64)
        /// What the key access server reported to the publisher.
        case keyAccess(Int64)

        public var milliseconds: Int64? {
            switch self {
            case .unset: nil
            case .system(let milliseconds), .keyAccess(let milliseconds): milliseconds
            }
        }
    }

    /// The collection before this one, in the same stream of the same process.
    public struct Predecessor: Equatable, Sendable {
        /// The first `nameByteCount` bytes of the SHA-256 of its header.
        public var name: [UInt8]
        /// Counter of its last item.
        public var lastCounter: UInt32

        public static let nameByteCount = 16

        /// - Parameter headerHash: `nameByteCount` bytes or more.
        public init(headerHash: some Collection<UInt8>, lastCounter: UInt32) {
            precondition(headerHash.count >= Self.nameByteCount, "no hash of a header")
            name = Array(headerHash.prefix(Self.nameByteCount))
            self.lastCounter = lastCounter
        }
    }

    public var time: Time
    public var predecessor: Predecessor?

    public init(time: Time = .unset, predecessor: Predecessor? = nil) {
        self.time = time
        self.predecessor = predecessor
    }

    /// Distinguishes notes from other user data: a UUID of our own (RFC 9562, version 4).
    public static let identifier: [UInt8] = [
        0x6b, 0x1d, 0x0f, 0x52, 0x93, 0xc4, 0x4e, 0x8a, 0xb7, 0x25, 0xd8, 0x3e, 0x61, 0xfa, 0x0c, 0x97,
    ]

    /// What a note adds to a unit at most: length, unit header, SEI header, body with emulation prevention, stop bit.
    public static let maxBytes = 4 + 2 + 2 + (maxBodyLength * 3 / 2) + 1

    private static let version: UInt8 = 1
    private static let minBodyLength = 26
    private static let maxBodyLength = minBodyLength + Predecessor.nameByteCount + 4

    private enum Flag {
        static let isTimeSet: UInt8 = 1
        static let isKeyAccessTime: UInt8 = 2
        static let hasPredecessor: UInt8 = 4
    }

    /// The body: identifier, version, flags, time, and the predecessor if there is one.
    func encoded() -> [UInt8] {
        var flags: UInt8 = 0
        switch time {
        case .unset: break
        case .system: flags |= Flag.isTimeSet
        case .keyAccess: flags |= Flag.isTimeSet | Flag.isKeyAccessTime
        }
        if predecessor != nil { flags |= Flag.hasPredecessor }
        var body = Self.identifier + [Self.version, flags]
        body.appendUInt64(UInt64(bitPattern: time.milliseconds ?? 0))
        if let predecessor {
            body += predecessor.name
            body.appendUInt32(predecessor.lastCounter)
        }
        return body
    }

    /// Nil for what is not a note. Bits and versions to come say more behind what is known here.
    init?(body: ArraySlice<UInt8>) {
        guard body.starts(with: Self.identifier) else { return nil }
        var reader = ByteReader(body.dropFirst(Self.identifier.count))
        guard let version = try? reader.readUInt8(), version >= Self.version, let flags = try? reader.readUInt8(),
            let bits = try? reader.readUInt64()
        else { return nil }
        let milliseconds = Int64(bitPattern: bits)
        // A time that no clock shows cannot be counted with either.
        let isTime = flags & Flag.isTimeSet != 0 && (0...Self.latestTime).contains(milliseconds)
        time =
            !isTime
            ? .unset : flags & Flag.isKeyAccessTime != 0 ? .keyAccess(milliseconds) : .system(milliseconds)
        guard flags & Flag.hasPredecessor != 0 else { return }
        guard let name = try? reader.readBytes(Predecessor.nameByteCount), let counter = try? reader.readUInt32()
        else { return nil }
        predecessor = Predecessor(headerHash: name, lastCounter: counter)
    }

    /// The end of the year 9999.
    private static let latestTime: Int64 = 253_402_300_799_999
}

// MARK: - In video

extension StreamNote {
    /// The access unit with this note directly before its first slice; nil when it has none, or is not made of units
    /// behind 4-byte lengths.
    public func inserted(intoVideo data: [UInt8], codec: VideoCodec) -> [UInt8]? {
        guard let place = Self.place(in: data[...], codec: codec) else { return nil }
        let unit = unit(codec: codec, slice: data[place.slice...].dropFirst(4))
        var output: [UInt8] = []
        output.reserveCapacity(data.count + 4 + unit.count)
        output += data[..<place.slice]
        output.appendUInt32(UInt32(truncatingIfNeeded: unit.count))
        output += unit
        output += data[place.slice...]
        return output
    }

    /// Takes the note out of an access unit; nil, and nothing changes, when it holds none.
    public static func removed(fromVideo data: inout [UInt8], codec: VideoCodec) -> StreamNote? {
        guard let place = place(in: data[...], codec: codec), let range = place.before,
            let note = note(inUnit: data[range].dropFirst(4), codec: codec)
        else { return nil }
        data.removeSubrange(range)
        return note
    }

    /// Whether a viewer would take something out of this access unit, whoever put it there.
    public static func isPresent(inVideo data: [UInt8], codec: VideoCodec) -> Bool {
        guard let range = place(in: data[...], codec: codec)?.before else { return false }
        return note(inUnit: data[range].dropFirst(4), codec: codec) != nil
    }

    /// Offset of the first slice, and the unit before it, lengths included.
    private static func place(
        in data: ArraySlice<UInt8>, codec: VideoCodec
    ) -> (slice: Int, before: Range<Int>?)? {
        var before: Range<Int>?
        var position = data.startIndex
        while data.endIndex - position > 4 {
            var length = 0
            for byte in data[position..<(position + 4)] { length = length << 8 | Int(byte) }
            guard length > 0, data.endIndex - position - 4 >= length else { return nil }
            if codec.kind(ofHeader: data[position + 4]).isPicture { return (position, before) }
            before = position..<(position + 4 + length)
            position += 4 + length
        }
        return nil
    }

    /// An SEI unit with one message of type 5 (user_data_unregistered).
    private func unit(codec: VideoCodec, slice: ArraySlice<UInt8>) -> [UInt8] {
        let body = encoded()
        var unit: [UInt8]
        switch codec {
        case .h264: unit = [6]
        case .hevc:
            // Layer and temporal identifier are those of the picture (H.265 §7.4.2.2).
            let second = slice.dropFirst().first ?? 1
            unit = [39 << 1 | (slice.first ?? 0) & 1, second == 0 ? 1 : second]
        }
        var zeros = 0
        for byte in [5, UInt8(body.count)] + body + [0x80] {
            if zeros == 2, byte <= 3 {
                unit.append(3)
                zeros = 0
            }
            unit.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        return unit
    }

    private static func note(inUnit unit: ArraySlice<UInt8>, codec: VideoCodec) -> StreamNote? {
        let type = codec.nalUnitType(of: unit)
        guard codec == .h264 ? type == 6 : type == 39, unit.count <= maxBytes + 64 else { return nil }
        var plain: [UInt8] = []
        var zeros = 0
        for byte in unit.dropFirst(codec == .h264 ? 1 : 2) {
            if zeros == 2, byte == 3 {
                zeros = 0
                continue
            }
            plain.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        guard plain.count > 3, plain[0] == 5, plain[1] < 255, plain.count == 2 + Int(plain[1]) + 1, plain.last == 0x80
        else { return nil }
        return StreamNote(body: plain[2...].dropLast())
    }
}

// MARK: - In audio

extension StreamNote {
    /// id_syn_ele DSE, element_instance_tag 15, data_byte_align_flag: whole bytes, so that the frame behind stays as it
    /// is.
    private static let elementHeader: UInt8 = 0b100_1111_1

    /// Whether frames of this format begin with a syntactic element that says what it is: not so in the error resilient
    /// object types (ISO/IEC 14496-3 §4.4.2.1).
    public static func fits(_ format: AudioFormat) -> Bool {
        guard let first = format.audioSpecificConfig.first else { return false }
        return [1, 2, 3, 4, 5, 29].contains(first >> 3)
    }

    /// The raw AAC frame with this note in front.
    public func inserted(intoAudio data: [UInt8]) -> [UInt8] {
        let body = encoded()
        return [Self.elementHeader, UInt8(body.count)] + body + data
    }

    /// Takes the note off a raw AAC frame; nil, and nothing changes, when it has none.
    public static func removed(fromAudio data: inout [UInt8]) -> StreamNote? {
        guard let (note, count) = note(inAudio: data) else { return nil }
        data.removeFirst(count)
        return note
    }

    public static func isPresent(inAudio data: [UInt8]) -> Bool { note(inAudio: data) != nil }

    private static func note(inAudio data: [UInt8]) -> (StreamNote, Int)? {
        guard data.count >= 2 + minBodyLength, data[0] == elementHeader, data[1] < 255, data.count >= 2 + Int(data[1]),
            let note = StreamNote(body: data[2..<(2 + Int(data[1]))])
        else { return nil }
        return (note, 2 + Int(data[1]))
    }
}
