extension DiscoveryAddress {
    /// Addresses that one device may name.
    public static let limit = 16

    /// What of a blank-separated list of URLs can be used, the likeliest one first.
    ///
    /// - Unusable addresses (`0.0.0.0`, loopback, an empty host) mean the device itself: the datagram's source takes their
    ///   place. Those within a link whose zone is not said are left out beside others, and repaired like that when alone.
    /// - Only literal private addresses count, and the source itself: whoever sends one datagram could name any host of the
    ///   Internet, or any name, and have logins shown there. The source takes the place of the others when nothing else is
    ///   there.
    /// - A device that names only other addresses than the one it spoke from (another network of its own, one that it had
    ///   before, its side of a NAT) gets the one that was seen in front of them.
    public static func repaired(_ list: String, source: String) -> [String] {
        var usable: [DiscoveryAddress] = []
        var elsewhere: [DiscoveryAddress] = []
        for word in list.split(whereSeparator: \.isWhitespace).prefix(4 * limit) {
            guard var address = DiscoveryAddress(String(word)) else { continue }
            switch HostKind(address.host) {
            case .unusable: address.host = source
            case .withinLink, .name, .address:
                guard address.host == source || HostKind.isPrivateAddress(address.host) else {
                    elsewhere.append(address)
                    continue
                }
            }
            usable.append(address)
        }
        if usable.isEmpty {
            usable = elsewhere.map {
                DiscoveryAddress(isSecure: $0.isSecure, host: source, port: $0.port, path: $0.path)
            }
        }
        if !usable.contains(where: { $0.host == source }), HostKind(source) == .address, var first = usable.first {
            first.host = source
            usable.insert(first, at: 0)
        }
        return ordered(usable.map(\.url), sources: [source])
    }

    /// Those whose host was seen as a source first, an address before a name, and what is for this link only last;
    /// otherwise as they were, each one once, no more than `limit`.
    static func ordered(_ urls: [String], sources: [String]) -> [String] {
        var ranks: [[String]] = [[], [], [], []]
        var seen: Set<String> = []
        for url in urls {
            guard let address = DiscoveryAddress(url), seen.insert(url).inserted else { continue }
            let rank =
                switch HostKind(address.host) {
                case .address: sources.contains(address.host) ? 0 : 1
                case .name, .unusable: 2
                case .withinLink: 3
                }
            ranks[rank].append(url)
        }
        return Array(ranks.joined().prefix(limit))
    }
}

/// What can be done with a host in a URL.
enum HostKind: Equatable {
    /// Unspecified, loopback, multicast, or empty.
    case unusable
    /// Valid within one link only.
    case withinLink
    case address
    case name

    /// A literal address of a private network, spelled so that it cannot be read as another one: a leading zero is octal to some.
    static func isPrivateAddress(_ host: String) -> Bool {
        if host.contains(":") { return !host.hasPrefix(":") && !host.contains("%") && IPAddress.isPrivate(host) }
        let hasLeadingZero = host.split(separator: ".").contains { $0.utf8.count > 1 && $0.hasPrefix("0") }
        return !hasLeadingZero && IPAddress.isPrivate(host)
    }

    init(_ host: String) {
        let plain = host.lowercased()
        let isWithinLink =
            if plain.contains(":") {
                plain.prefix { $0 != ":" }.count == 4 && ["8", "9", "a", "b"].contains { plain.hasPrefix("fe\($0)") }
            } else {
                IPAddress.ipv4(plain).map { $0[0] == 169 && $0[1] == 254 } ?? false
            }
        if isWithinLink {
            self = .withinLink
        } else if IPAddress.isUseless(plain) {
            self = .unusable
        } else {
            self = IPAddress.isIPv4(plain) || plain.contains(":") ? .address : .name
        }
    }
}
