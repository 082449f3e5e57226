public import Wire

/// Why bytes are not the message that was expected. Offsets count from the message's first byte.
public enum ProtobufError: WireFailure, Equatable, Sendable {
    case wire(WireError)
    /// A variable-length integer of more than ten bytes, or beyond 64 bits.
    case invalidVarint(offset: Int)
    /// Field number 0 or above 2^29 − 1, or a wire type that does not exist (groups are refused too).
    case invalidTag(offset: Int)
    /// A known field with a wire type other than its own.
    case wrongWireType(field: UInt32, offset: Int)
    case invalidUTF8(field: UInt32, offset: Int)
    /// More fields than any message of ours has use for.
    case tooManyFields(limit: Int)
}

/// Reads the fields of one message, in any order (Protocol Buffers encoding).
struct ProtobufReader {
    enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(ArraySlice<UInt8>)
        case fixed32(UInt32)
    }

    struct Field: Equatable {
        var number: UInt32
        /// Where the field's tag begins.
        var offset: Int
        var value: Value

        func bytes() throws(ProtobufError) -> ArraySlice<UInt8> {
            guard case .bytes(let bytes) = value else { throw .wrongWireType(field: number, offset: offset) }
            return bytes
        }

        func string() throws(ProtobufError) -> String {
            guard let text = String(validating: try bytes(), as: UTF8.self) else {
                throw .invalidUTF8(field: number, offset: offset)
            }
            return text
        }
    }

    static let maximumFields = 1024

    private var reader: FieldReader<ProtobufError>
    private var count = 0

    init(_ bytes: ArraySlice<UInt8>) {
        reader = FieldReader(bytes)
    }

    /// Nil at the end of the message.
    mutating func next() throws(ProtobufError) -> Field? {
        guard !reader.isAtEnd else { return nil }
        count += 1
        guard count <= Self.maximumFields else { throw .tooManyFields(limit: Self.maximumFields) }
        let offset = reader.offset
        let tag = try varint()
        guard tag >> 3 >= 1, tag >> 3 <= 0x1FFF_FFFF else { throw .invalidTag(offset: offset) }
        let value: Value
        switch tag & 7 {
        case 0: value = .varint(try varint())
        case 1: value = .fixed64(try reader.readUInt64().byteSwapped)
        case 2:
            // A length beyond the message is reported as truncation without ever becoming an Int that could trap.
            value = .bytes(try reader.readBytes(Int(clamping: try varint())))
        case 5: value = .fixed32(try reader.readUInt32LittleEndian())
        default: throw .invalidTag(offset: offset)
        }
        return Field(number: UInt32(truncatingIfNeeded: tag >> 3), offset: offset, value: value)
    }

    private mutating func varint() throws(ProtobufError) -> UInt64 {
        let start = reader.offset
        var value: UInt64 = 0
        for index in 0..<10 {
            let byte = try reader.readUInt8()
            guard index < 9 || byte <= 1 else { throw .invalidVarint(offset: start) }
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte & 0x80 == 0 { return value }
        }
        throw .invalidVarint(offset: start)
    }
}

/// Appends fields of one message. Empty strings and bytes are left out, as proto3 does.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: UInt32, _ text: String) {
        append(number, Array(text.utf8))
    }

    mutating func append(_ number: UInt32, _ content: [UInt8], evenIfEmpty: Bool = false) {
        guard evenIfEmpty || !content.isEmpty else { return }
        appendVarint(UInt64(number) << 3 | 2)
        appendVarint(UInt64(content.count))
        bytes += content
    }

    private mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
