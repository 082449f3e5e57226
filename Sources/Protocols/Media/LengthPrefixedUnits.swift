internal import Wire

/// The NAL units of an access unit in the form of ISO/IEC 14496-15: each behind its length, big-endian.
///
/// An iterator whose `next()` throws; empty units are passed over. Nothing is copied.
public struct LengthPrefixedUnits: Sendable {
    private var reader: FieldReader<MediaError>
    private let lengthSize: Int

    /// - Parameter lengthSize: 1 to 4 bytes, as the configuration record says.
    public init(_ bytes: ArraySlice<UInt8>, lengthSize: Int = 4) {
        precondition(lengthSize >= 1 && lengthSize <= 4)
        reader = FieldReader<MediaError>(bytes)
        self.lengthSize = lengthSize
    }

    /// The next unit that is not empty; nil at the end. Throws `.wire(.truncated)` where a length, or the bytes that it
    /// promises, are missing.
    public mutating func next() throws(MediaError) -> ArraySlice<UInt8>? {
        while !reader.isAtEnd {
            let unit = try nextEvenEmpty()
            if !unit.isEmpty { return unit }
        }
        return nil
    }

    private mutating func nextEvenEmpty() throws(MediaError) -> ArraySlice<UInt8> {
        var length = 0
        for byte in try reader.readBytes(lengthSize) { length = length << 8 | Int(byte) }
        return try reader.readBytes(length)
    }

    /// The same units behind 4-byte lengths. With a `lengthSize` of 4 this checks the lengths and copies once.
    public static func widened(_ bytes: ArraySlice<UInt8>, from lengthSize: Int) throws(MediaError) -> [UInt8] {
        var units = LengthPrefixedUnits(bytes, lengthSize: lengthSize)
        if lengthSize == 4 {
            while try units.next() != nil {}
            return Array(bytes)
        }
        var wide: [UInt8] = []
        wide.reserveCapacity(bytes.count + 64)
        while let unit = try units.next() {
            wide.appendUInt32(UInt32(truncatingIfNeeded: unit.count))
            wide += unit
        }
        return wide
    }
}
