/// Reads fields from bytes that a peer sent.
///
/// A read either moves `offset` past the field or throws and leaves it. Nothing traps, whatever the bytes.
public struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>

    /// Where the next field begins, counted from the first byte that this reader was given.
    public private(set) var offset: Int = 0

    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Bytes not read yet.
    public var remaining: Int { bytes.count - offset }

    public var isAtEnd: Bool { remaining == 0 }

    /// The next byte, not consumed; nil at the end.
    public func peek() -> UInt8? {
        isAtEnd ? nil : bytes[bytes.startIndex + offset]
    }

    public mutating func readUInt8() throws(WireError) -> UInt8 {
        try require(1)
        defer { offset += 1 }
        return bytes[bytes.startIndex + offset]
    }

    /// Big-endian.
    public mutating func readUInt16() throws(WireError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readBigEndian(2))
    }

    /// Big-endian, 0…0xFFFFFF.
    public mutating func readUInt24() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readBigEndian(3))
    }

    /// Big-endian two's complement, −2^23…2^23−1.
    public mutating func readInt24() throws(WireError) -> Int32 {
        let value = try readUInt24()
        return Int32(bitPattern: value << 8) >> 8
    }

    /// Big-endian.
    public mutating func readUInt32() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readBigEndian(4))
    }

    /// Big-endian.
    public mutating func readUInt64() throws(WireError) -> UInt64 {
        try readBigEndian(8)
    }

    /// Little-endian; RTMP's message stream id is the only field of this kind.
    public mutating func readUInt32LittleEndian() throws(WireError) -> UInt32 {
        try readUInt32().byteSwapped
    }

    /// `count` bytes as a slice of what this reader was given; nothing is copied.
    public mutating func readBytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        try require(count)
        let start = bytes.startIndex + offset
        offset += count
        return bytes[start..<(start + count)]
    }

    public mutating func readRemaining() -> ArraySlice<UInt8> {
        let start = bytes.startIndex + offset
        offset = bytes.count
        return bytes[start...]
    }

    public mutating func skip(_ count: Int) throws(WireError) {
        try require(count)
        offset += count
    }

    /// Throws `.trailingBytes` unless everything was read.
    public func finish() throws(WireError) {
        guard isAtEnd else { throw .trailingBytes(offset: offset, count: remaining) }
    }

    private func require(_ count: Int) throws(WireError) {
        guard count >= 0, remaining >= count else {
            throw .truncated(offset: offset, needed: count, available: remaining)
        }
    }

    private mutating func readBigEndian(_ count: Int) throws(WireError) -> UInt64 {
        try require(count)
        var value: UInt64 = 0
        let start = bytes.startIndex + offset
        for index in start..<(start + count) {
            value = value << 8 | UInt64(bytes[index])
        }
        offset += count
        return value
    }
}
