public import Wire

/// Why bytes are not AMF0 that this module reads. Offsets count from the first byte that the decoder was given.
public enum AMF0Error: WireFailure, Equatable, Sendable {
    /// The bytes end within a value.
    case wire(WireError)
    /// A marker without a value of known length: reserved, AMF3 (0x11), or none at all.
    case unknownMarker(UInt8, offset: Int)
    /// More bytes than the limits allow; nothing was read.
    case tooLong(bytes: Int, limit: Int)
    /// The container at `offset` is nested deeper than the limits allow.
    case tooDeep(offset: Int, limit: Int)
    /// The container at `offset` holds more entries than the limits allow for one container or for all.
    case tooManyEntries(offset: Int, limit: Int)
}

extension AMF0Error: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "AMF0 \(error)"
        case .unknownMarker(let marker, let offset): "AMF0 marker \(marker) at byte \(offset) is unknown"
        case .tooLong(let bytes, let limit): "AMF0 of \(bytes) bytes; \(limit) are allowed"
        case .tooDeep(let offset, let limit): "AMF0 container at byte \(offset) is nested deeper than \(limit)"
        case .tooManyEntries(let offset, let limit): "AMF0 container at byte \(offset) has more than \(limit) entries"
        }
    }
}
