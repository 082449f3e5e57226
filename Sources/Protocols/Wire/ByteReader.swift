/// A module's error, of which one case says that bytes could not be read: `case wire(WireError)` is enough.
public protocol WireFailure: Error {
    static func wire(_ error: WireError) -> Self
}

extension WireError: WireFailure {
    @inlinable
    public static func wire(_ error: WireError) -> WireError { error }
}

/// For whoever has no error of his own.
public typealias ByteReader = FieldReader<WireError>

/// Reads fields from bytes that a peer sent, and throws the error of the module that asks.
///
/// A read either moves `offset` past the field or throws and leaves it. Nothing traps, whatever the bytes. Inlinable, so
/// that each module gets it made for its own error: items and NAL units are read with it.
public struct FieldReader<Failure: WireFailure>: Sendable {
    @usableFromInline
    let bytes: ArraySlice<UInt8>
    @usableFromInline
    var position = 0

    /// Where the next field begins, counted from the first byte that this reader was given.
    @inlinable
    public var offset: Int { position }

    @inlinable
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    @inlinable
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
    }

    /// Bytes not read yet.
    @inlinable
    public var remaining: Int { bytes.count - position }

    @inlinable
    public var isAtEnd: Bool { remaining == 0 }

    /// The next byte, not consumed; nil at the end.
    @inlinable
    public func peek() -> UInt8? {
        isAtEnd ? nil : bytes[bytes.startIndex + position]
    }

    @inlinable
    public mutating func readUInt8() throws(Failure) -> UInt8 {
        try require(1)
        defer { position += 1 }
        return bytes[bytes.startIndex + position]
    }

    /// Big-endian.
    @inlinable
    public mutating func readUInt16() throws(Failure) -> UInt16 {
        UInt16(truncatingIfNeeded: try readBigEndian(2))
    }

    /// Big-endian, 0…0xFFFFFF.
    @inlinable
    public mutating func readUInt24() throws(Failure) -> UInt32 {
        UInt32(truncatingIfNeeded: try readBigEndian(3))
    }

    /// Big-endian two's complement, −2^23…2^23−1.
    @inlinable
    public mutating func readInt24() throws(Failure) -> Int32 {
        let value = try readUInt24()
        return Int32(bitPattern: value << 8) >> 8
    }

    /// Big-endian.
    @inlinable
    public mutating func readUInt32() throws(Failure) -> UInt32 {
        UInt32(truncatingIfNeeded: try readBigEndian(4))
    }

    /// Big-endian.
    @inlinable
    public mutating func readUInt64() throws(Failure) -> UInt64 {
        try readBigEndian(8)
    }

    /// Little-endian; RTMP's message stream id is the only field of this kind.
    @inlinable
    public mutating func readUInt32LittleEndian() throws(Failure) -> UInt32 {
        try readUInt32().byteSwapped
    }

    /// `count` bytes as a slice of what this reader was given; nothing is copied.
    @inlinable
    public mutating func readBytes(_ count: Int) throws(Failure) -> ArraySlice<UInt8> {
        try require(count)
        let start = bytes.startIndex + position
        position += count
        return bytes[start..<(start + count)]
    }

    @inlinable
    public mutating func readRemaining() -> ArraySlice<UInt8> {
        let start = bytes.startIndex + position
        position = bytes.count
        return bytes[start...]
    }

    @inlinable
    public mutating func skip(_ count: Int) throws(Failure) {
        try require(count)
        position += count
    }

    /// Throws `WireError.trailingBytes` unless everything was read.
    @inlinable
    public func finish() throws(Failure) {
        guard isAtEnd else { throw .wire(.trailingBytes(offset: offset, count: remaining)) }
    }

    @inlinable
    func require(_ count: Int) throws(Failure) {
        guard count >= 0, remaining >= count else {
            throw .wire(.truncated(offset: offset, needed: count, available: remaining))
        }
    }

    @inlinable
    mutating func readBigEndian(_ count: Int) throws(Failure) -> UInt64 {
        try require(count)
        var value: UInt64 = 0
        let start = bytes.startIndex + position
        for index in start..<(start + count) {
            value = value << 8 | UInt64(bytes[index])
        }
        position += count
        return value
    }
}
