public import Wire

/// Why a packet is not one of RTP.
public enum RTPError: Error, Equatable, Sendable {
    case wire(WireError)
    /// Only version 2 exists (RFC 3550 §5.1).
    case unsupportedVersion(UInt8)
    /// The last byte counts more padding than there are bytes, or none.
    case invalidPadding(count: Int, available: Int)
}

extension RTPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "\(error)"
        case .unsupportedVersion(let version): "RTP version \(version), where only 2 exists"
        case .invalidPadding(let count, let available): "\(count) bytes of padding in \(available) bytes"
        }
    }
}
