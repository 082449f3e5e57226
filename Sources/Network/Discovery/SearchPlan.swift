internal import ONVIF

/// Options that were checked, with the networks that they mean.
struct SearchPlan {
    var options: SearchOptions
    /// Where Probes go; an address of an interface, or nil for its IPv6.
    var probes: [(interface: NetworkInterfaces.Interface, address: String?)] = []
    /// Known before anything was asked.
    var problems: [String] = []

    /// Ports that are asked at one address.
    static let portLimit = 32
    /// Addresses of interfaces that Probes are sent from.
    static let probeLimit = 64

    /// - Throws: when there is nothing to ask, or more than may be.
    init(_ options: SearchOptions, interfaces: [NetworkInterfaces.Interface]) throws(DiscoveryError) {
        self.options = options
        self.options.ports = Self.distinct(options.ports)
        self.options.onvifPorts = Self.distinct(options.onvifPorts)
        self.options.concurrency = min(max(options.concurrency, 1), 256)
        try Self.check(options.ranges, allowsLarge: options.allowsLarge)
        let scans = !options.ranges.isEmpty && !self.options.ports.isEmpty
        guard options.multicast || scans else { throw .nothingToAsk }
        guard options.multicast else { return }
        var chosen = interfaces.filter(\.isSearchable)
        if let names = options.interfaces {
            for name in names where !interfaces.contains(where: { $0.name == name }) {
                throw .unknownInterface(name: name, known: interfaces.map(\.name))
            }
            // Named ones are asked whatever they look like.
            chosen = interfaces.filter { names.contains($0.name) }
        }
        for interface in chosen {
            for address in interface.ipv4 { probes.append((interface, address.address)) }
            if interface.ipv6LinkLocal != nil { probes.append((interface, nil)) }
        }
        if probes.count > Self.probeLimit {
            problems.append(
                "only the first \(Self.probeLimit) of \(probes.count) addresses of this machine are searched from")
            probes.removeLast(probes.count - Self.probeLimit)
        }
        guard !probes.isEmpty || scans else { throw .noNetwork }
        if probes.isEmpty { problems.append("no network interface is up for a search by multicast") }
    }

    private static func distinct(_ ports: [UInt16]) -> [UInt16] {
        var seen: Set<UInt16> = [0]
        return Array(ports.filter { seen.insert($0).inserted }.prefix(portLimit))
    }

    private static func check(_ ranges: [AddressRange], allowsLarge: Bool) throws(DiscoveryError) {
        let text = ranges.prefix(8).map(\.description).joined(separator: ", ")
        guard ranges.count <= 256 else {
            throw .invalidRange(text: "\(text), …", reason: "no more than 256 networks are scanned at once")
        }
        let addresses = ranges.reduce(0) { $0 + $1.count }
        guard addresses <= AddressRange.limit else {
            throw .rangeTooLarge(text: text, addresses: addresses, limit: AddressRange.limit)
        }
        guard addresses <= AddressRange.freeLimit || allowsLarge else {
            throw .rangeNeedsConsent(text: text, addresses: addresses, limit: AddressRange.freeLimit)
        }
    }
}
