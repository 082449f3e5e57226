internal import Glibc
internal import Platform

/// The network interfaces of this machine.
public enum NetworkInterfaces {
    public struct Interface: Equatable, Sendable {
        public var name: String
        /// As the kernel counts them; another one when an interface of the same name comes again.
        public var index: UInt32
        public var ipv4: [Address]
        /// With its zone: `fe80::1%eth0`.
        public var ipv6LinkLocal: String?
        /// Up, and with a carrier.
        public var isUp: Bool
        public var hasMulticast: Bool
        public var isLoopback: Bool

        public struct Address: Equatable, Sendable {
            public var address: String
            /// Bits of the network's part.
            public var prefix: Int

            public init(address: String, prefix: Int) {
                self.address = address
                self.prefix = prefix
            }
        }

        public init(
            name: String, index: UInt32, ipv4: [Address] = [], ipv6LinkLocal: String? = nil, isUp: Bool = true,
            hasMulticast: Bool = true, isLoopback: Bool = false
        ) {
            self.name = name
            self.index = index
            self.ipv4 = ipv4
            self.ipv6LinkLocal = ipv6LinkLocal
            self.isUp = isUp
            self.hasMulticast = hasMulticast
            self.isLoopback = isLoopback
        }

        /// Cameras can be searched there.
        public var isSearchable: Bool {
            isUp && hasMulticast && !isLoopback && (!ipv4.isEmpty || ipv6LinkLocal != nil)
        }
    }

    /// Addresses of one interface that are read.
    static let addressLimit = 16
    /// Interfaces that are read.
    static let limit = 64

    /// In the kernel's order. No more than 64 interfaces with 16 addresses each.
    public static func list() throws(DiscoveryError) -> [Interface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { throw .system(call: "getifaddrs", reason: SystemMessage.text(errno)) }
        defer { freeifaddrs(first) }
        var found: [Interface] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            let name = String(cString: entry.ifa_name)
            let position: Int
            if let known = found.firstIndex(where: { $0.name == name }) {
                position = known
            } else {
                let index = if_nametoindex(name)
                guard index > 0, found.count < limit else { continue }
                found.append(interface(name, index: index, flags: entry.ifa_flags))
                position = found.count - 1
            }
            guard let address = SocketAddress(entry.ifa_addr) else { continue }
            if address.isIPv4 {
                guard found[position].ipv4.count < addressLimit else { continue }
                let prefix = SocketAddress(entry.ifa_netmask)?.prefixLength ?? 32
                found[position].ipv4.append(Interface.Address(address: address.host, prefix: prefix))
            } else if address.isLinkLocalIPv6, found[position].ipv6LinkLocal == nil {
                found[position].ipv6LinkLocal = address.host
            }
        }
        return found
    }

    private static func interface(_ name: String, index: UInt32, flags: UInt32) -> Interface {
        func has(_ flag: Int) -> Bool { flags & UInt32(flag) != 0 }
        return Interface(
            name: name, index: index, isUp: has(IFF_UP) && has(IFF_RUNNING),
            hasMulticast: has(IFF_MULTICAST), isLoopback: has(IFF_LOOPBACK))
    }
}
