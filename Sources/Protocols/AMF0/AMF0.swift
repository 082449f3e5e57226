/// Action Message Format 0: the values within RTMP commands, data messages and FLV script tags.
public enum AMF0 {
    /// All values, one after the other, to the end of `bytes`. Invalid UTF-8 is repaired (U+FFFD), not refused.
    public static func decode(
        _ bytes: ArraySlice<UInt8>, limits: AMF0Limits = .command
    ) throws(AMF0Error) -> [AMF0Value] {
        guard bytes.count <= limits.bytes else { throw .tooLong(bytes: bytes.count, limit: limits.bytes) }
        var decoder = AMF0Decoder(bytes, limits: limits)
        return try decoder.values()
    }

    public static func decode(_ bytes: [UInt8], limits: AMF0Limits = .command) throws(AMF0Error) -> [AMF0Value] {
        try decode(bytes[...], limits: limits)
    }

    /// Never fails: a string of more than 65 535 bytes becomes a long string, and a longer key is cut between
    /// characters.
    public static func encode(_ values: [AMF0Value]) -> [UInt8] {
        var bytes: [UInt8] = []
        for value in values { AMF0.append(value, to: &bytes) }
        return bytes
    }
}

/// AMF0 markers (§2.1).
enum Marker {
    static let number: UInt8 = 0x00
    static let boolean: UInt8 = 0x01
    static let string: UInt8 = 0x02
    static let object: UInt8 = 0x03
    static let null: UInt8 = 0x05
    static let undefined: UInt8 = 0x06
    static let reference: UInt8 = 0x07
    static let ecmaArray: UInt8 = 0x08
    static let objectEnd: UInt8 = 0x09
    static let strictArray: UInt8 = 0x0A
    static let date: UInt8 = 0x0B
    static let longString: UInt8 = 0x0C
    static let unsupported: UInt8 = 0x0D
    static let xmlDocument: UInt8 = 0x0F
    static let typedObject: UInt8 = 0x10
}
