public import Glibc

/// Where a Unix socket is: a path, or an abstract name.
public struct UnixAddress: Equatable, Sendable {
    /// Bytes of the longest path: `sun_path` has one more, for the NUL.
    public static let longestPath = 107

    /// Of `sun_path`.
    private let bytes: [UInt8]

    /// - Parameter path: of a file, also from the working directory; nil when it is empty, too long or holds a NUL.
    public init?(path: String) {
        let bytes = Array(path.utf8)
        guard (1...Self.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
        self.bytes = bytes + [0]
    }

    /// - Parameter text: as systemd writes it: a path from the root, or an abstract name with `@` in front; nil for
    ///   anything else.
    public init?(_ text: String) {
        guard let address = UnixAddress(path: text), address.bytes.count > 2 else { return nil }
        switch address.bytes[0] {
        case UInt8(ascii: "/"): bytes = address.bytes
        case UInt8(ascii: "@"): bytes = [UInt8(0)] + address.bytes.dropFirst().dropLast()
        default: return nil
        }
    }

    /// For bind(2), connect(2) and sendmsg(2).
    public func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
