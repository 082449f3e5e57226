internal import Platform

/// The local network, layer by layer, as text files of the kernel show it: no netlink socket is needed.
package struct NetworkReading: Equatable, Sendable {
    package struct Interface: Equatable, Sendable {
        package var name: String
        package var hasCarrier: Bool
        /// Global addresses, both families; link-local ones (169.254, fe80) do not count.
        package var addresses: [String] = []
    }

    package enum Neighbour: Equatable, Sendable {
        /// Its hardware address is known.
        case known
        /// It was asked for and did not answer.
        case silent
        /// It was not asked for, or the route has no IPv4 gateway.
        case unasked
    }

    package struct Gateway: Equatable, Sendable {
        package var address: String
        package var interface: String
        package var neighbour: Neighbour
    }

    /// Ethernet and wireless, without loopback, bridges, tunnels and containers' ends (unless there is nothing else).
    package var interfaces: [Interface] = []
    /// Of the default route with the lowest metric; nil: there is no IPv4 default route with a gateway.
    package var gateway: Gateway?
    /// Of that default route, or of the first one of IPv6; nil: there is none of any kind.
    package var defaultInterface: String?
    /// Addresses of all interfaces but loopback, without link-local ones of IPv6.
    package var addressCount = 0

    package static func read(_ paths: BoxPaths) -> NetworkReading {
        func text(_ name: String) -> String { SmallFile.text("\(paths.processRoot)/net/\(name)") ?? "" }
        let routes = IPv4Route.all(text("route"))
        let locals = localAddresses(text("fib_trie"))
        let global6 = globalIPv6Addresses(text("if_inet6"))
        var reading = NetworkReading(addressCount: locals.count + global6.count)
        for name in relevant(paths) {
            let carrier = SmallFile.number("\(paths.systemRoot)/class/net/\(name)/carrier") == 1
            let connected = routes.filter { $0.interface == name && $0.gateway == 0 && $0.mask != 0 }
            let own = locals.filter { address in
                !isLinkLocal(address) && connected.contains { address & $0.mask == $0.destination }
            }
            reading.interfaces.append(
                Interface(
                    name: name, hasCarrier: carrier,
                    addresses: own.map(dotted) + global6.filter { $0.interface == name }.map(\.address)))
        }
        let defaults = routes.filter { $0.destination == 0 && $0.mask == 0 }
        reading.defaultInterface =
            defaults.min { $0.metric < $1.metric }?.interface ?? defaultIPv6Interface(text("ipv6_route"))
        if let route = defaults.filter({ $0.gateway != 0 }).min(by: { $0.metric < $1.metric }) {
            let address = dotted(route.gateway)
            reading.gateway = Gateway(
                address: address, interface: route.interface,
                neighbour: neighbour(text("arp"), address: address, interface: route.interface))
        }
        return reading
    }

    private static func relevant(_ paths: BoxPaths) -> [String] {
        let directory = "\(paths.systemRoot)/class/net"
        let candidates = SmallFile.names(in: directory).filter { name in
            // ARPHRD_ETHER; wireless has it, too.
            SmallFile.number("\(directory)/\(name)/type") == 1 && !SmallFile.exists("\(directory)/\(name)/bridge")
                && !SmallFile.exists("\(directory)/\(name)/tun_flags")
        }
        let hardware = candidates.filter { SmallFile.exists("\(directory)/\($0)/device") }
        return Array((hardware.isEmpty ? candidates : hardware).prefix(16))
    }

    /// Addresses in the order of their digits: the first is the most significant byte.
    static func dotted(_ address: UInt32) -> String {
        "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    }

    static func isLinkLocal(_ address: UInt32) -> Bool { address >> 16 == 169 << 8 | 254 }

    /// Of `/proc/net/fib_trie`: lines `|-- A.B.C.D` that are followed by `/32 host LOCAL`.
    static func localAddresses(_ text: String) -> [UInt32] {
        var found: [UInt32] = []
        var last: UInt32?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "|--", words.count == 2 {
                last = number(words[1])
            } else if words == ["/32", "host", "LOCAL"], let address = last, address >> 24 != 127,
                !found.contains(address), found.count < 64
            {
                found.append(address)
            }
        }
        return found
    }

    private static func number(_ dotted: Substring) -> UInt32? {
        let parts = dotted.split(separator: ".", omittingEmptySubsequences: false).compactMap { UInt8($0) }
        return parts.count == 4 ? parts.reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    /// `fe80…` has scope 20, global ones 00.
    static func globalIPv6Addresses(_ text: String) -> [(interface: Substring, address: String)] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 6, words[5] != "lo", words[3] == "00", words[0].utf8.count == 32 else { return nil }
            let digits = Array(words[0])
            return (
                words[5],
                stride(from: 0, to: 32, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: ":")
            )
        }
    }

    /// Destination and prefix are all zero, and it is neither loopback nor the "unreachable" entry (flag RTF_REJECT).
    static func defaultIPv6Interface(_ text: String) -> String? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 10, let flags = UInt32(words[8], radix: 16) else { continue }
            if words[0].allSatisfy({ $0 == "0" }), words[1] == "00", words[9] != "lo", flags & 0x200 == 0 {
                return String(words[9])
            }
        }
        return nil
    }

    /// `/proc/net/arp`: flag 2 means that the hardware address is known.
    static func neighbour(_ text: String, address: String, interface: String) -> Neighbour {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 6, words[0] == address, words[5] == interface, words[2].hasPrefix("0x"),
                let flags = UInt32(words[2].dropFirst(2), radix: 16)
            else { continue }
            return flags & 2 != 0 ? .known : .silent
        }
        return .unasked
    }
}
