internal import CSystemd
internal import Glibc

/// Where a Unix socket is: a path, or an abstract name when it begins with `@`, as systemd writes it.
struct UnixAddress: Sendable {
    private let bytes: [UInt8]

    /// nil when the text is neither, or does not fit into `sun_path` (107 bytes).
    init?(_ text: String) {
        var bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count > 1, bytes.count < 108, !bytes.contains(0) else { return nil }
        switch first {
        case UInt8(ascii: "/"): bytes.append(0)
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        self.bytes = bytes
    }

    func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + bytes.count)
        return withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
