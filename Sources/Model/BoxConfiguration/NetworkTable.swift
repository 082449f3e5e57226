internal import ErrorCatalog
internal import Wire

/// `network.ethernet` or `network.wifi` of an adoption file, being read.
struct NetworkTable {
    /// `network.wifi`
    let object: String
    let place: Place
    let nodes: [String: WrittenValue]
    /// Keys that there are.
    private(set) var known: [String] = []

    init(object: String, place: Place, nodes: [String: WrittenValue]) {
        self.object = object
        self.place = place
        self.nodes = nodes
    }

    mutating func ethernet(_ reading: inout Reading) -> EthernetSettings {
        known = ["address", "gateway", "dns"]
        var settings = EthernetSettings()
        settings.address = string("address", &reading) { (text) throws(Finding) in
            try EthernetSettings.check(address: text)
        }
        if let address = settings.address {
            settings.gateway = string("gateway", &reading) { (text) throws(Finding) in
                try EthernetSettings.check(gateway: text, address: address)
            }
        } else if nodes["gateway"] != nil, nodes["address"] == nil {
            report("gateway", "has no `address` beside it", "Write the box's own address as `address`", &reading)
        }
        settings.nameServers = nameServers(&reading)
        return settings
    }

    private func nameServers(_ reading: inout Reading) -> [String] {
        guard let node = nodes["dns"] else { return [] }
        let hint = "Use [\"192.168.1.1\"]: addresses of at most 4 name servers"
        guard case .array(let elements) = node else {
            report("dns", "is \(node.kind), but must be a list of strings", hint, &reading)
            return []
        }
        var servers: [String] = []
        for element in elements.prefix(5) {
            guard servers.count < 4, case .string(let text) = element, let address = NetworkAddress(text),
                EthernetSettings.isHost(address)
            else {
                report("dns", "is not a list of at most 4 IP addresses", hint, &reading)
                return []
            }
            servers.append(text)
        }
        return servers
    }

    mutating func wireless(_ reading: inout Reading) -> WirelessSettings? {
        known = ["ssid", "password", "country", "hidden"]
        for key in ["ssid", "password", "country"] where nodes[key] == nil {
            reading.report(
                .invalidValue, place, at: place.position(), "\(object).\(key)", "is missing",
                "Write wifi = { ssid = \"…\", password = \"…\", country = \"DE\" }")
        }
        let ssid = string("ssid", &reading) { (text) throws(Finding) in try WirelessSettings.check(ssid: text) }
        let password = string("password", &reading) { (text) throws(Finding) in
            try WirelessSettings.check(password: text)
        }
        let country = string("country", &reading) { (text) throws(Finding) in
            try WirelessSettings.check(country: text)
        }
        var isHidden = false
        switch nodes["hidden"] {
        case nil: break
        case .boolean(let flag)?: isHidden = flag
        case let node?:
            report(
                "hidden", "is \(node.kind), but must be true or false", "Use true or false, without quotes", &reading)
        }
        guard let ssid, let password, let country else { return nil }
        return WirelessSettings(ssid: ssid, password: password, country: country, isHidden: isHidden)
    }

    /// Nil when there is none, and for one that does not fit, which is reported.
    private func string(
        _ key: String, _ reading: inout Reading, check: (String) throws(Finding) -> Void
    ) -> String? {
        guard let node = nodes[key] else { return nil }
        do throws(Finding) {
            guard case .string(let text) = node else {
                throw Finding("is \(node.kind), but must be a string", "Use quotes around it")
            }
            try check(text)
            return text
        } catch {
            report(key, error.reason, error.hint, &reading)
            return nil
        }
    }

    private func report(_ key: String, _ reason: String, _ hint: String, _ reading: inout Reading) {
        reading.report(.invalidValue, place, at: place.position(key), "\(object).\(key)", reason, hint)
    }
}
