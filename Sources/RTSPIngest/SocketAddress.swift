internal import Glibc

/// An IPv4 or IPv6 address with a port, as the kernel writes it.
struct SocketAddress {
    private(set) var storage = sockaddr_storage()
    private(set) var length: socklen_t = 0

    private init() {}

    /// Of a socket's other end.
    static func peer(of descriptor: Int32) -> SocketAddress? {
        SocketAddress { getpeername(descriptor, $0, $1) }
    }

    /// Of a socket's own end.
    static func local(of descriptor: Int32) -> SocketAddress? {
        SocketAddress { getsockname(descriptor, $0, $1) }
    }

    init?(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask($0, &length) }
        }
        guard result >= 0, family == AF_INET || family == AF_INET6 else { return nil }
        self.length = length
    }

    /// An address in numbers; nil for what is none.
    init?(_ text: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr = four
            withUnsafeBytes(of: &address) { bytes in
                withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: bytes) }
            }
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = six
            withUnsafeBytes(of: &address) { bytes in
                withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: bytes) }
            }
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        } else {
            return nil
        }
        self.port = port
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        get {
            // At the same place in both families.
            withUnsafeBytes(of: storage) { UInt16($0[2]) << 8 | UInt16($0[3]) }
        }
        set {
            withUnsafeMutableBytes(of: &storage) { bytes in
                bytes[2] = UInt8(truncatingIfNeeded: newValue >> 8)
                bytes[3] = UInt8(truncatingIfNeeded: newValue)
            }
        }
    }

    /// Of the address alone.
    var bytes: [UInt8] {
        withUnsafeBytes(of: storage) { all in
            family == AF_INET ? Array(all[4..<8]) : Array(all[8..<24])
        }
    }

    /// sin6_scope_id: the interface of a link-local address.
    var scope: UInt32 {
        guard family == AF_INET6 else { return 0 }
        return withUnsafeBytes(of: storage) { $0.loadUnaligned(fromByteOffset: 24, as: UInt32.self) }
    }

    /// The same host, whatever the port; an IPv4 address inside an IPv6 one is the same.
    func isSameHost(as other: SocketAddress) -> Bool {
        Self.unmapped(bytes) == Self.unmapped(other.bytes)
    }

    private static func unmapped(_ bytes: [UInt8]) -> [UInt8] {
        let prefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return bytes.count == 16 && Array(bytes.prefix(12)) == prefix ? Array(bytes.suffix(4)) : bytes
    }

    var isMulticast: Bool {
        let bytes = bytes
        guard let first = bytes.first else { return false }
        return bytes.count == 4 ? first & 0xF0 == 0xE0 : first == 0xFF
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The same address and another port.
    func with(port: UInt16) -> SocketAddress {
        var copy = self
        copy.port = port
        return copy
    }
}
