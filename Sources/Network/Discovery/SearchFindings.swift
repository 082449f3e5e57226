internal import ONVIF
internal import Platform

/// What a search has found, from all its sources, as one list with each camera once.
struct SearchFindings {
    /// Found by its answer to RTSP or ONVIF at an address, without a name.
    private struct Host {
        var address: SocketAddress
        var rtspPorts: [UInt16] = []
        var onvifPorts: [UInt16] = []
        var needsLogin: Bool?
        var facts: DeviceInformation?
    }

    private(set) var collection = DiscoveryCollection()
    private var hosts: [String: Host] = [:]
    /// By address, from the answers to `DeviceQuestion.information`.
    private var facts: [String: DeviceInformation] = [:]
    private var needsLogin: [String: Bool] = [:]

    /// Where WS-Discovery has reported a device.
    private var announced: Set<String> = []

    /// Hosts that are kept; as many as a large scan may find.
    static let hostLimit = 4096

    /// Whether that changed what is known, and whether the device is new.
    mutating func heard(_ target: DiscoveredTarget, network: String) -> (hasChanged: Bool, isNew: Bool) {
        let count = collection.entries.count
        guard collection.add(target, network: network) else { return (false, false) }
        announced.insert(target.source)
        return (true, collection.entries.count > count)
    }

    /// True when this address answers RTSP for the first time.
    mutating func answeredRTSP(_ address: SocketAddress, status: Int?) -> Bool {
        let key = address.host
        guard hosts[key] != nil || hosts.count < Self.hostLimit else { return false }
        var host = hosts[key] ?? Host(address: address)
        let isNew = host.rtspPorts.isEmpty
        if !host.rtspPorts.contains(address.port) { host.rtspPorts.append(address.port) }
        // OPTIONS without a login is often allowed where nothing else is: its success says nothing.
        if status == 401 { host.needsLogin = true }
        hosts[key] = host
        return isNew
    }

    /// True when it was not known.
    mutating func answeredONVIF(_ address: SocketAddress) -> Bool {
        let key = address.host
        guard hosts[key] != nil || hosts.count < Self.hostLimit else { return false }
        var host = hosts[key] ?? Host(address: address)
        let isNew = host.onvifPorts.isEmpty
        if !host.onvifPorts.contains(address.port) { host.onvifPorts.append(address.port) }
        hosts[key] = host
        return isNew
    }

    mutating func answered(_ address: SocketAddress, facts answer: DeviceInformation?, needsLogin refused: Bool) {
        guard needsLogin[address.host] != nil || needsLogin.count < Self.hostLimit else { return }
        needsLogin[address.host] = refused
        if let answer { facts[address.host] = answer }
    }

    /// WS-Discovery has reported a device there.
    func isAnnounced(_ host: String) -> Bool { announced.contains(host) }

    /// Sorted by address.
    var devices: [FoundDevice] {
        var devices: [FoundDevice] = []
        var taken: Set<String> = []
        for entry in collection.entries {
            guard var device = self.device(entry) else { continue }
            // Where it answered; not where it says that it is, as it could hide somebody else's camera like that.
            for host in entry.sources {
                guard let found = hosts[host] else { continue }
                taken.insert(host)
                device.rtspPorts += found.rtspPorts.filter { !device.rtspPorts.contains($0) }
            }
            device.rtspPorts.sort()
            devices.append(device)
        }
        for (key, host) in hosts where !taken.contains(key) { devices.append(device(host, key)) }
        return Self.sorted(devices)
    }

    /// Devices in `devices`, at most.
    var count: Int { collection.entries.count + hosts.count }

    /// By keys that are made once each: addresses are parsed for them.
    static func sorted(
        _ devices: [FoundDevice], by key: (FoundDevice) -> SortKey = SearchFindings.sortKey
    ) -> [FoundDevice] {
        devices.map { (key: key($0), device: $0) }.sorted { $0.key < $1.key }.map(\.device)
    }

    static func sortKey(_ device: FoundDevice) -> SortKey {
        let host = device.address.prefix { $0 != "%" }
        let bytes: [UInt8] =
            switch SocketAddress(host: String(host), port: 0)?.family {
            case .ipv4(let number): (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
            case .ipv6(let bytes, _): [255] + bytes
            case nil: [255, 255]
            }
        return SortKey(bytes: bytes, port: device.port, text: device.endpoint ?? device.address)
    }

    struct SortKey: Comparable {
        var bytes: [UInt8]
        var port: UInt16
        var text: String

        static func < (one: SortKey, other: SortKey) -> Bool {
            if one.bytes != other.bytes { return one.bytes.lexicographicallyPrecedes(other.bytes) }
            return one.port == other.port ? one.text < other.text : one.port < other.port
        }
    }

    private func device(_ entry: DiscoveryCollection.Entry) -> FoundDevice? {
        let addresses = entry.target.addresses.compactMap { DiscoveryAddress($0) }
        guard let first = Self.address(of: addresses, seen: entry.sources) else { return nil }
        var device = FoundDevice(kind: .onvif, address: first.host, port: first.port, source: first.source)
        device.endpoint = entry.target.endpoint
        device.name = entry.target.name
        device.manufacturer = entry.target.manufacturer
        device.hardware = entry.target.hardware
        device.location = entry.target.location
        device.xaddrs = entry.target.addresses
        device.senders = entry.sources
        device.networks = entry.networks.filter { !$0.isEmpty }.sorted()
        add(factsOf: entry.sources + [first.host], to: &device)
        return device
    }

    /// The likeliest one. `onvif://` is tried without TLS first, so an address without it describes the device better; but
    /// only where it was seen to answer, or else at the very same host: what else it names may be somebody else's.
    private static func address(of addresses: [DiscoveryAddress], seen: [String]) -> DiscoveryAddress? {
        guard let first = addresses.first else { return nil }
        let hosts = seen.contains(first.host) ? Set(seen) : [first.host]
        // One that is valid within a link only is no better, even without TLS.
        let isWithinLink = first.host.contains("%")
        return addresses.first { address in
            !address.isSecure && hosts.contains(address.host) && address.host.contains("%") == isWithinLink
        } ?? first
    }

    private func device(_ host: Host, _ key: String) -> FoundDevice {
        guard let port = host.onvifPorts.first else {
            let port = host.rtspPorts.first ?? 554
            let authority = DiscoveryAddress.written(host: key) + (port == 554 ? "" : ":\(port)")
            var device = FoundDevice(kind: .rtsp, address: key, port: port, source: "rtsp://\(authority)/")
            device.rtspPorts = host.rtspPorts.sorted()
            device.needsLogin = host.needsLogin
            return device
        }
        let address = DiscoveryAddress(
            isSecure: false, host: key, port: port, path: DiscoveryAddress.standardPath)
        var device = FoundDevice(kind: .onvif, address: key, port: port, source: address.source)
        device.xaddrs = [address.url]
        device.rtspPorts = host.rtspPorts.sorted()
        add(factsOf: [key], to: &device)
        return device
    }

    private func add(factsOf hosts: [String], to device: inout FoundDevice) {
        for host in hosts {
            if device.needsLogin == nil { device.needsLogin = needsLogin[host] }
            guard let facts = facts[host] else { continue }
            device.manufacturer = device.manufacturer ?? facts.manufacturer
            device.hardware = device.hardware ?? facts.model
            device.firmware = facts.firmware
            device.serial = facts.serial
        }
    }
}
