internal import Glibc
internal import NIOCore

/// Which of the kernel's rules decides how fast a connection sends, by the kernel's name for it: TCP_CONGESTION (tcp(7), linux/tcp.h).
enum CongestionControl {
    /// TCP_CA_NAME_MAX bytes; what the name leaves is zero.
    private typealias Name = (UInt64, UInt64)

    private static let level = SocketOptionLevel(IPPROTO_TCP)
    private static let option = SocketOptionName(13)
    private static let nameLimit = 16

    /// Where the kernel has no such rule, or does not let us, the connection keeps the one it has. Asking is the only way to know: what
    /// the kernel lists in /proc/sys is hidden from a camera's process (ProcSubset=pid).
    static func use(_ name: String, on channel: any Channel) {
        guard let provider = channel as? any SocketOptionProvider, name.utf8.count < nameLimit else { return }
        var value: Name = (0, 0)
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: name.utf8) }
        _ = provider.unsafeSetSocketOption(level: level, name: option, value: value)
    }

    /// Nil when the channel is gone or is not a TCP socket.
    static func read(from channel: any Channel, then done: @escaping @Sendable (String?) -> Void) {
        guard let provider = channel as? any SocketOptionProvider else { return done(nil) }
        let future: EventLoopFuture<Name> = provider.unsafeGetSocketOption(level: level, name: option)
        future.whenComplete { result in
            guard case .success(let value) = result else { return done(nil) }
            let name = withUnsafeBytes(of: value) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            done(name.isEmpty ? nil : name)
        }
    }
}
