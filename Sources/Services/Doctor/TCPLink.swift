internal import Glibc

/// What the kernel knows of a TCP connection (`struct tcp_info`, linux/tcp.h).
struct TCPLink: Equatable, Sendable {
    var roundTripMilliseconds: Double
    /// Bytes.
    var pathMTU: Int

    private static let pathMTUOffset = 60
    private static let roundTripOffset = 68
    private static let size = 104

    /// Nil for a descriptor that is not a connected TCP socket.
    init?(descriptor: CInt) {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        var size = socklen_t(Self.size)
        guard getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &bytes, &size) == 0, Int(size) == Self.size else {
            return nil
        }
        let (mtu, microseconds) = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: Self.pathMTUOffset, as: UInt32.self),
                $0.loadUnaligned(fromByteOffset: Self.roundTripOffset, as: UInt32.self)
            )
        }
        guard mtu > 0 else { return nil }
        pathMTU = Int(mtu)
        roundTripMilliseconds = Double(microseconds) / 1000
    }
}
