public import Logging
public import ONVIF

/// A device on the network, as far as it can be recognised. All of it is a claim.
public struct Sighting: Equatable, Sendable {
    /// IP address.
    public var address: String
    /// Of its ONVIF device service; nil when it reported none.
    public var url: String?
    public var identity: DeviceIdentity

    public init(address: String, url: String? = nil, identity: DeviceIdentity) {
        self.address = address
        self.url = url
        self.identity = identity
    }
}

/// Looks for devices that are known, wherever they are now. Sends no credentials, ever.
public enum LookAround {
    /// Every device that answers by WS-Discovery on the networks of this machine; with `near`, neighbours' hardware
    /// addresses, too. Takes about ten seconds.
    ///
    /// - Parameters:
    ///   - near: last addresses of devices whose MAC address is known: it is asked who has the addresses around them, in three
    ///     networks at a time.
    public static func sightings(near: [String], logger: Logger) async -> [Sighting] {
        Neighbours.ask(around: near, (try? NetworkInterfaces.list()) ?? [])
        let settled = ContinuousClock.now + (near.isEmpty ? .zero : Neighbours.settling)
        let found = await search(SearchOptions(), logger)
        // What was true of an address an hour ago is not a sighting.
        try? await Task.sleep(until: settled)
        return sightings(found, near.isEmpty ? [:] : Neighbours.table())
    }

    /// What can be found out of the device at one address without a login; nil when that is nothing. IPv4.
    public static func identity(at address: String, logger: Logger) async -> DeviceIdentity? {
        guard let range = try? AddressRange(address), range.count == 1 else { return nil }
        var options = SearchOptions()
        options.multicast = false
        options.ranges = [range]
        options.ports = [554]
        let found = sightings(await search(options, logger), Neighbours.table())
        return found.first { $0.address == address }?.identity
    }

    private static func search(_ options: SearchOptions, _ logger: Logger) async -> [FoundDevice] {
        do throws(DiscoveryError) {
            return try await Search(options, logger: logger).run { _ in }
        } catch {
            logger.debug("nothing was searched for cameras", metadata: ["reason": "\(error)"])
            return []
        }
    }

    /// Each of them may be where the device is: whoever answers in its name as well does not hide it.
    private static func places(of device: FoundDevice) -> [String] {
        let all = [device.address] + device.senders + device.xaddrs.compactMap { DiscoveryAddress($0)?.host }
        // One device has addresses of both kinds.
        let isIPv4 = all.contains { !$0.contains(":") }
        return all.reduce(into: []) { places, host in
            if !places.contains(host), !(isIPv4 && host.contains(":")) { places.append(host) }
        }
    }

    static func sightings(_ devices: [FoundDevice], _ neighbours: [String: String]) -> [Sighting] {
        // A repeater, or a router that answers for others, has one for all behind it.
        let holders = Dictionary(grouping: neighbours.keys) { neighbours[$0] ?? "" }
        let neighbours = neighbours.filter { holders[$0.value]?.count == 1 }
        let found = devices.flatMap { device in
            places(of: device).map { host in
                Sighting(
                    address: host, url: device.xaddrs.first { DiscoveryAddress($0)?.host == host },
                    identity: DeviceIdentity(
                        endpoint: device.endpoint, serial: device.serial, mac: neighbours[host]))
            }
        }
        let others = neighbours.filter { address, _ in !found.contains { $0.address == address } }
        return
            (found
            + others.sorted { $0.key < $1.key }.map {
                Sighting(address: $0.key, identity: DeviceIdentity(mac: $0.value))
            })
            .filter { !$0.identity.isEmpty }
    }
}
