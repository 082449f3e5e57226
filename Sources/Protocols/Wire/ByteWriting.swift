extension [UInt8] {
    /// Big-endian.
    @inlinable
    public mutating func appendUInt16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// Big-endian; the upper 8 bits of `value` are not written.
    @inlinable
    public mutating func appendUInt24(_ value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// Big-endian.
    @inlinable
    public mutating func appendUInt32(_ value: UInt32) {
        appendUInt16(UInt16(truncatingIfNeeded: value >> 16))
        appendUInt16(UInt16(truncatingIfNeeded: value))
    }

    /// Big-endian.
    @inlinable
    public mutating func appendUInt64(_ value: UInt64) {
        appendUInt32(UInt32(truncatingIfNeeded: value >> 32))
        appendUInt32(UInt32(truncatingIfNeeded: value))
    }

    /// Little-endian; RTMP's message stream id is the only field of this kind.
    @inlinable
    public mutating func appendUInt32LittleEndian(_ value: UInt32) {
        appendUInt32(value.byteSwapped)
    }
}
