internal import Wire

/// What stays the same when a camera gets another address, another name or another plug.
public struct CameraIdentity: Equatable, Sendable {
    /// WS-Discovery's endpoint reference, such as `urn:uuid:…`.
    public var onvifEndpoint: String?
    public var serial: String?
    /// `aa:bb:cc:dd:ee:ff`; other spellings are taken and stored in this form.
    public var mac: String?

    public init(onvifEndpoint: String? = nil, serial: String? = nil, mac: String? = nil) {
        self.onvifEndpoint = onvifEndpoint
        self.serial = serial
        self.mac = mac
    }

    public var isEmpty: Bool { onvifEndpoint == nil && serial == nil && mac == nil }

    /// Whether both are surely one camera.
    ///
    /// An endpoint reference can change with a factory reset, cheap makers give one serial number to all devices, and
    /// one camera has a MAC address on each of its interfaces. So each of them can say yes, and what contradicts it is
    /// asked as well.
    func isLike(_ other: CameraIdentity) -> Bool {
        let serials = Self.compare(serial, other.serial)
        let macs = Self.compare(Self.canonical(mac: mac), Self.canonical(mac: other.mac))
        if Self.compare(onvifEndpoint, other.onvifEndpoint) == .same {
            return !(serials == .different && macs == .different)
        }
        return serials == .same && macs != .different || macs == .same && serials != .different
    }

    /// With what was seen now; what was not seen stays.
    func learning(_ seen: CameraIdentity) -> CameraIdentity {
        CameraIdentity(
            onvifEndpoint: seen.onvifEndpoint ?? onvifEndpoint, serial: seen.serial ?? serial, mac: seen.mac ?? mac)
    }

    private enum Comparison { case same, different, unknown }

    private static func compare(_ left: String?, _ right: String?) -> Comparison {
        guard let left, let right else { return .unknown }
        return left == right ? .same : .different
    }

    /// Lower case with colons; nil when it is not a MAC address.
    static func canonical(mac: String?) -> String? {
        guard let mac, mac.utf8.count <= 17 else { return nil }
        let digits = mac.lowercased().filter { $0 != ":" && $0 != "-" && $0 != "." }
        guard digits.utf8.count == 12, digits.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }) else { return nil }
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, index.isMultiple(of: 2) { text.append(":") }
            text.append(digit)
        }
        return text
    }
}
