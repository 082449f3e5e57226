/// One value of Action Message Format 0 (amf0-file-format-specification, December 2007).
public indirect enum AMF0Value: Equatable, Sendable {
    /// Marker 0x00.
    case number(Double)
    /// Marker 0x01.
    case boolean(Bool)
    /// Marker 0x02, up to 65 535 bytes of UTF-8; the encoder writes a longer one as a long string.
    case string(String)
    /// Marker 0x03.
    case object(AMF0Object)
    /// Marker 0x05.
    case null
    /// Marker 0x06.
    case undefined
    /// Marker 0x08. Its count on the wire is a hint: the end marker decides.
    case ecmaArray(AMF0Object)
    /// Marker 0x0A.
    case strictArray([AMF0Value])
    /// Marker 0x0B: milliseconds since 1970-01-01 UTC; the zone is reserved and should be 0 (§2.13).
    case date(milliseconds: Double, zone: Int16)
    /// Marker 0x0C.
    case longString(String)
    /// A value that was read past and not kept: 0x07 reference, 0x0D unsupported, 0x0F XML document, 0x10 typed
    /// object. Encoded as 0x0D whatever it was.
    case unsupported(marker: UInt8)
}

extension AMF0Value {
    public var numberValue: Double? {
        if case .number(let value) = self { value } else { nil }
    }

    /// Also true for a number other than 0: some encoders write flags so.
    public var booleanValue: Bool? {
        switch self {
        case .boolean(let value): value
        case .number(let value): value != 0
        case .string, .object, .null, .undefined, .ecmaArray, .strictArray, .date, .longString, .unsupported: nil
        }
    }

    /// Short and long strings alike.
    public var stringValue: String? {
        switch self {
        case .string(let value), .longString(let value): value
        case .number, .boolean, .object, .null, .undefined, .ecmaArray, .strictArray, .date, .unsupported: nil
        }
    }

    /// Objects and ECMA arrays alike.
    public var objectValue: AMF0Object? {
        switch self {
        case .object(let value), .ecmaArray(let value): value
        case .number, .boolean, .string, .null, .undefined, .strictArray, .date, .longString, .unsupported: nil
        }
    }
}
