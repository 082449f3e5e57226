/// Why bytes from outside could not be read. Offsets count from the first byte that the reader was given.
public enum WireError: Error, Equatable, Sendable {
    /// A field of `needed` bytes begins at `offset`, but only `available` are left.
    case truncated(offset: Int, needed: Int, available: Int)
    /// `count` bytes follow, from `offset` on, where the format ends.
    case trailingBytes(offset: Int, count: Int)
}

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .truncated(let offset, let needed, let available):
            "truncated at byte \(offset): \(needed) bytes needed, \(available) left"
        case .trailingBytes(let offset, let count):
            "\(count) bytes too many from byte \(offset) on"
        }
    }
}
