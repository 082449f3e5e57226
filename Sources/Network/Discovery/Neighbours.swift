internal import ONVIF
internal import Platform

/// The kernel's table of neighbours: which hardware answers at which IPv4 address of this machine's own networks.
enum Neighbours {
    /// Of the system's own, so that it works in a service that sees nothing else of `/proc`.
    static let path = "/proc/self/net/arp"
    private static let bytesLimit = 1 << 20
    /// From a question on, until the kernel has taken out what answered once and does not any more: it waits 5 s
    /// (`delay_first_probe_time`) and asks three times, each a second.
    static let settling = Duration.milliseconds(8500)
    /// Networks that are asked at a time: the kernel's table has room for 1024 (`gc_thresh3`), and others need it, too.
    static let nearLimit = 3

    /// MAC address by IP address; empty where the system does not say.
    static func table() -> [String: String] {
        SmallFile.text(path, atMost: bytesLimit).map(parse) ?? [:]
    }

    /// Lines of `address, type, flags, MAC, mask, device`; one without the flag 2 (ATF_COM) is not true, or not any more.
    static func parse(_ text: String) -> [String: String] {
        var table: [String: String] = [:]
        for line in text.split(separator: "\n").dropFirst().prefix(8192) {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count >= 4, fields[2].hasPrefix("0x"), let flags = UInt(fields[2].dropFirst(2), radix: 16),
                flags & 2 != 0, let mac = DeviceIdentity(mac: String(fields[3])).mac
            else { continue }
            table[String(fields[0])] = mac
        }
        return table
    }

    /// Has the kernel ask who has the addresses around these, in this machine's own networks: a datagram without content
    /// goes to each, at most 254 around one. Who has them is in the table a second later.
    static func ask(around addresses: [String], _ interfaces: [NetworkInterfaces.Interface]) {
        guard let socket = try? DatagramSocket.unicast() else { return }
        var asked: Set<UInt32> = []
        var networks = 0
        // In any order, so that each has its turn.
        for address in addresses.shuffled() where networks < nearLimit {
            let new = around(address, interfaces).filter { asked.insert($0).inserted }
            if !new.isEmpty { networks += 1 }
            for number in new {
                // The port of `discard` (RFC 863).
                _ = socket.send([], to: SocketAddress(.ipv4(number), port: 9))
            }
        }
    }

    /// The addresses of its network, or of its /24 when that is smaller; none when it is not a neighbour.
    static func around(_ address: String, _ interfaces: [NetworkInterfaces.Interface]) -> [UInt32] {
        guard case .ipv4(let number) = SocketAddress(host: address, port: 0)?.family else { return [] }
        for own in interfaces.filter(\.isUp).flatMap(\.ipv4) where (8...30).contains(own.prefix) {
            guard case .ipv4(let mine) = SocketAddress(host: own.address, port: 0)?.family,
                (mine ^ number) >> (32 - UInt32(own.prefix)) == 0
            else { continue }
            let host = UInt32.max >> UInt32(max(own.prefix, 24))
            let base = number & ~host
            return ((base + 1)..<(base + host)).filter { $0 != mine }
        }
        return []
    }
}
