import Discovery
import FoundationEssentials
import Glibc

/// One line of what this program says: a JSON object.
struct Line: Encodable {
    var event: String
    var interfaces: [String: [String]]?
    var device: Device?
    var announcement: Heard?
    var networks: [String]?
    var problem: String?
    var problems: [String]?
    var probed: Int?
    var total: Int?
    var found: Int?
    var milliseconds: Int?
    var addresses: Int?
    var error: String?
    var hint: String?

    struct Device: Encodable {
        var kind: String
        var endpoint: String?
        var address: String
        var port: Int
        var name: String?
        var manufacturer: String?
        var hardware: String?
        var location: String?
        var firmware: String?
        var serial: String?
        var xaddrs: [String]
        var source: String
        var networks: [String]
        var needsLogin: Bool?
        var rtspPorts: [Int]

        init(_ device: FoundDevice) {
            kind = device.kind.rawValue
            endpoint = device.endpoint
            address = device.address
            port = Int(device.port)
            name = device.name
            manufacturer = device.manufacturer
            hardware = device.hardware
            location = device.location
            firmware = device.firmware
            serial = device.serial
            xaddrs = device.xaddrs
            source = device.source
            networks = device.networks
            needsLogin = device.needsLogin
            rtspPorts = device.rtspPorts.map(Int.init)
        }
    }

    struct Heard: Encodable {
        var kind: String
        var endpoint: String
        var address: String
        var url: String?
        var network: String
        var name: String?

        init(_ announcement: Announcement) {
            kind = announcement.kind.rawValue
            endpoint = announcement.endpoint
            address = announcement.address
            url = announcement.url
            network = announcement.network
            name = announcement.name
        }
    }

    init(_ event: String) {
        self.event = event
    }

    init(_ event: String, _ progress: SearchProgress) {
        self.event = event
        problems = progress.problems
        probed = progress.probed
        total = progress.total
        found = progress.found.count
        milliseconds = Int(progress.elapsed / .milliseconds(1))
    }

    init(_ error: DiscoveryError) {
        self.init("error")
        self.error = error.description
        hint = error.hint
    }

    func say() {
        guard let bytes = try? JSONEncoder().encode(self) else { return }
        let line = Array(bytes) + [10]
        _ = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
