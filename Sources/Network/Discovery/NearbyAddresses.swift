internal import Platform

/// Addresses that an announcement can come from: it is sent within a link, but who sends a datagram writes what sender they
/// like into it. Private addresses, those within a link, and the networks of this machine's interfaces.
struct NearbyAddresses {
    private var networks: [(address: UInt32, mask: UInt32)] = []

    init(_ interfaces: [NetworkInterfaces.Interface] = []) {
        for address in interfaces.flatMap(\.ipv4) where (1...32).contains(address.prefix) {
            guard case .ipv4(let number) = SocketAddress(host: address.address, port: 0)?.family else { continue }
            let mask = UInt32.max << (32 - UInt32(address.prefix))
            networks.append((number & mask, mask))
        }
    }

    func contains(_ address: SocketAddress) -> Bool {
        switch address.family {
        case .ipv4(let number):
            Self.privateNetworks.contains { number & $0.mask == $0.address }
                || networks.contains { number & $0.mask == $0.address }
        // fc00::/7 (RFC 4193)
        case .ipv6(let bytes, _): address.isLinkLocalIPv6 || (bytes.count == 16 && bytes[0] & 0xFE == 0xFC)
        }
    }

    /// RFC 1918, RFC 6598 and RFC 3927.
    private static let privateNetworks: [(address: UInt32, mask: UInt32)] = [
        (0x0A00_0000, 0xFF00_0000), (0xAC10_0000, 0xFFF0_0000), (0xC0A8_0000, 0xFFFF_0000),
        (0x6440_0000, 0xFFC0_0000), (0xA9FE_0000, 0xFFFF_0000),
    ]
}
