/// Why a session description cannot be read. Positions count bytes from its beginning.
public enum RTSPError: Error, Equatable, Sendable {
    case malformed(position: Int, reason: String)
    /// More than a bound of ours.
    case tooLong(what: String, limit: Int)
}

extension RTSPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let position, let reason): "the camera's stream description: \(reason) (byte \(position))"
        case .tooLong(let what, let limit): "the camera's stream description: more than \(limit) \(what)"
        }
    }
}
