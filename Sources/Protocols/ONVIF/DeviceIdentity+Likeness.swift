extension DeviceIdentity {
    /// What two devices have in common, the surest first.
    public enum Trait: String, Sendable, CaseIterable {
        case endpoint
        case serial
        case mac
    }

    /// What makes it likely that both are one device; nil: nothing, or too much speaks against it. A claim is not proof.
    ///
    /// An endpoint reference can change with a factory reset, cheap makers give one serial number to all devices, and a
    /// camera has a MAC address on each of its interfaces. So each of them can say yes, and what contradicts it is asked as
    /// well. Many devices write their MAC address into their endpoint reference.
    public func trait(sharedWith other: DeviceIdentity) -> Trait? {
        func differ(_ left: String?, _ right: String?) -> Bool { left != nil && right != nil && left != right }
        let (serialsDiffer, macsDiffer) = (differ(serial, other.serial), differ(mac, other.mac))
        if let endpoint, endpoint == other.endpoint, !(serialsDiffer && macsDiffer) { return .endpoint }
        if let serial, serial == other.serial, !macsDiffer { return .serial }
        return !serialsDiffer && !macs.isDisjoint(with: other.macs) ? .mac : nil
    }

    private var macs: Set<String> { Set([mac, Self.mac(inEndpoint: endpoint)].compactMap { $0 }) }

    /// The last twelve digits of a UUID, if they can be the MAC address of one device.
    static func mac(inEndpoint endpoint: String?) -> String? {
        let prefix = "urn:uuid:"
        guard let endpoint, endpoint.hasPrefix(prefix),
            endpoint.utf8.filter({ $0 != UInt8(ascii: "-") }).count == prefix.utf8.count + 32,
            let mac = DeviceIdentity(mac: String(endpoint.suffix(12))).mac,
            // Not of a group; and a node without an address takes a random number with this bit (RFC 9562 §6.10).
            let first = UInt8(mac.prefix(2), radix: 16), first & 1 == 0
        else { return nil }
        return mac
    }
}
