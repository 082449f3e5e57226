public import Glibc

/// An address and a port, as sockets take and give them.
public struct SocketAddress: Equatable, Sendable {
    public enum Family: Equatable, Sendable {
        /// The most significant byte first.
        case ipv4(UInt32)
        /// 16 bytes, and the index of the interface for addresses that are valid within one link.
        case ipv6([UInt8], zone: UInt32)
    }

    public var family: Family
    /// As people write it, whatever the machine's order of bytes.
    public var port: UInt16

    public init(_ family: Family, port: UInt16) {
        self.family = family
        self.port = port
    }

    /// - Parameter host: dotted decimal, or IPv6 without a zone.
    public init?(host: String, port: UInt16, zone: UInt32 = 0) {
        var ipv4 = in_addr()
        if inet_pton(AF_INET, host, &ipv4) == 1 {
            self.init(.ipv4(UInt32(bigEndian: ipv4.s_addr)), port: port)
            return
        }
        var ipv6 = in6_addr()
        guard inet_pton(AF_INET6, host, &ipv6) == 1 else { return nil }
        self.init(.ipv6(withUnsafeBytes(of: &ipv6) { Array($0) }, zone: zone), port: port)
    }

    /// - Parameter text: as `host` writes it, with its zone.
    public init?(text: String, port: UInt16) {
        let parts = text.split(separator: "%", maxSplits: 1)
        guard let host = parts.first else { return nil }
        let zone = parts.count > 1 ? if_nametoindex(String(parts[1])) : 0
        self.init(host: String(host), port: port, zone: zone)
    }

    /// Nil for a null pointer, and for families other than IPv4 and IPv6.
    public init?(_ pointer: UnsafeMutablePointer<sockaddr>?) {
        guard let pointer else { return nil }
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET:
            let address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in.self)
            self.init(
                .ipv4(UInt32(bigEndian: address.sin_addr.s_addr)), port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            var address = UnsafeRawPointer(pointer).loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: &address.sin6_addr) { Array($0) }
            self.init(.ipv6(bytes, zone: address.sin6_scope_id), port: UInt16(bigEndian: address.sin6_port))
        default: return nil
        }
    }

    /// Of a socket's other end; nil when it has none.
    public static func peer(of descriptor: CInt) -> SocketAddress? {
        SocketAddress { getpeername(descriptor, $0, $1) }
    }

    /// Of a socket's own end.
    public static func local(of descriptor: CInt) -> SocketAddress? {
        SocketAddress { getsockname(descriptor, $0, $1) }
    }

    /// What a call of the system's writes.
    ///
    /// - Parameter ask: below 0: it failed, and there is none.
    public init?(_ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                ask($0, &length) < 0 ? nil : SocketAddress($0)
            }
        }
        guard let address else { return nil }
        self = address
    }

    /// Without the port; of IPv6 within a link with its zone.
    public var host: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch family {
        case .ipv4(let number):
            return "\(number >> 24).\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
        case .ipv6(let bytes, let zone):
            guard bytes.count == 16, inet_ntop(AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else {
                return ""
            }
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
            guard isLinkLocalIPv6, zone > 0 else { return text }
            var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
            guard if_indextoname(zone, &name) != nil else { return "\(text)%\(zone)" }
            return text + "%"
                + String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        }
    }

    /// Of the address alone: 4 or 16, the most significant first.
    public var bytes: [UInt8] {
        switch family {
        case .ipv4(let number): (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        case .ipv6(let bytes, _): bytes
        }
    }

    /// The interface of an address that is valid within one link; 0 without one.
    public var zone: UInt32 {
        switch family {
        case .ipv4: 0
        case .ipv6(_, let zone): zone
        }
    }

    /// The same host, whatever the port; an IPv4 address inside an IPv6 one is the same.
    public func isSameHost(as other: SocketAddress) -> Bool { unmapped == other.unmapped }

    /// The same address and another port.
    public func with(port: UInt16) -> SocketAddress { SocketAddress(family, port: port) }

    /// The IPv4 address inside an IPv6 one (RFC 4291 §2.5.5.2), and no zone.
    private var unmapped: Family {
        guard case .ipv6(let bytes, _) = family else { return family }
        guard bytes.starts(with: Self.mapping) else { return .ipv6(bytes, zone: 0) }
        return .ipv4(bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static let mapping: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    /// Of a group, not of a host.
    public var isMulticast: Bool {
        switch family {
        case .ipv4(let number): number >> 28 == 0xE
        case .ipv6(let bytes, _): bytes.first == 0xFF
        }
    }

    public var isIPv4: Bool {
        switch family {
        case .ipv4: true
        case .ipv6: false
        }
    }

    public var isLinkLocalIPv6: Bool {
        switch family {
        case .ipv4: false
        case .ipv6(let bytes, _): bytes.count == 16 && bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        }
    }

    /// Of a netmask: its ones.
    public var prefixLength: Int? {
        switch family {
        case .ipv4(let number): number.nonzeroBitCount
        case .ipv6: nil
        }
    }

    /// AF_INET or AF_INET6.
    public var familyNumber: Int32 { isIPv4 ? AF_INET : AF_INET6 }

    /// Calls with the form that the system takes.
    public func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch family {
        case .ipv4(let number):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = number.bigEndian
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .ipv6(let bytes, let zone):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = zone
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes.prefix(16)) }
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
    }
}
