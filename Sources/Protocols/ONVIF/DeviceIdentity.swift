internal import Wire

/// What stays the same when a camera gets another address. Only what can distinguish two devices gets in.
public struct DeviceIdentity: Equatable, Sendable {
    /// WS-Discovery's endpoint reference, `urn:uuid:` and a UUID in lower case.
    public var endpoint: String?
    public var serial: String?
    /// Six bytes in lower-case hexadecimal, with colons.
    public var mac: String?

    /// Leaves out what identifies nothing: an IP address or zeros as a serial number, a MAC of zeros, a nil UUID.
    public init(endpoint: String? = nil, serial: String? = nil, mac: String? = nil) {
        self.endpoint = endpoint.flatMap { Self.normalizedEndpoint($0) }
        self.serial = serial.flatMap { Self.normalizedSerial($0) }
        self.mac = mac.flatMap { Self.normalizedMAC($0) }
    }

    public var isEmpty: Bool { endpoint == nil && serial == nil && mac == nil }

    /// Whether both name the same device: by the first of endpoint, serial number and MAC that both have. Nil when they
    /// have none in common.
    public func matches(_ other: DeviceIdentity) -> Bool? {
        if let mine = endpoint, let theirs = other.endpoint { return mine == theirs }
        if let mine = serial, let theirs = other.serial { return mine == theirs }
        if let mine = mac, let theirs = other.mac { return mine == theirs }
        return nil
    }

    /// `urn:uuid:` and the UUID in lower case, of any of the spellings that devices use; another absolute URI as it is.
    /// Nil for what identifies nothing.
    public static func normalizedEndpoint(_ text: String) -> String? {
        var rest = text.trimmingSpaces
        guard (1...256).contains(rest.utf8.count), ShownText.isPrintable(rest) else { return nil }
        var isUUID = false
        for prefix in ["urn:", "uuid:"] where rest.lowercased().hasPrefix(prefix) {
            rest = String(rest.dropFirst(prefix.count))
            isUUID = prefix == "uuid:"
        }
        if rest.hasPrefix("{"), rest.hasSuffix("}") { rest = String(rest.dropFirst().dropLast()) }
        let digits = rest.utf8.filter { $0 != UInt8(ascii: "-") }
        if digits.count == 32, digits.allSatisfy({ Hexadecimal.value(of: $0) != nil }) {
            guard digits.contains(where: { $0 != UInt8(ascii: "0") }) else { return nil }
            return "urn:uuid:" + rest.lowercased()
        }
        // Not a UUID, though it says so, is still the same at each announcement of that device.
        if isUUID { return rest.isEmpty || digits.allSatisfy { $0 == UInt8(ascii: "0") } ? nil : "urn:uuid:" + rest }
        let whole = text.trimmingSpaces
        return whole.contains(":") && !isAddress(whole) ? whole : nil
    }

    private static func normalizedSerial(_ text: String) -> String? {
        let serial = text.trimmingSpaces
        guard (1...128).contains(serial.utf8.count), ShownText.isPrintable(serial), !isAddress(serial) else {
            return nil
        }
        // "0", "0000-0000", "N/A" and the like are what a factory forgot to fill in.
        let significant = serial.lowercased().unicodeScalars.filter {
            $0.properties.isAlphabetic || ("1"..."9").contains($0)
        }
        let text = String(String.UnicodeScalarView(significant))
        guard !significant.isEmpty, !["na", "none", "null", "unknown", "default", "serialnumber"].contains(text) else {
            return nil
        }
        // "FF:FF:FF…" and "xxxx".
        return Set(significant).count == 1 && significant.count > 2 ? nil : serial
    }

    private static func normalizedMAC(_ text: String) -> String? {
        let digits = text.trimmingSpaces.filter { !"-:.".contains($0) }
        guard digits.utf8.count == 12, let bytes = try? Hexadecimal.decode(digits),
            bytes.contains(where: { $0 != 0 }), bytes.contains(where: { $0 != 0xFF })
        else { return nil }
        return bytes.map { Hexadecimal.encode($0) }.joined(separator: ":")
    }

    private static func isAddress(_ text: String) -> Bool {
        IPAddress.isIPv4(text) || IPAddress.isIPv6(text)
    }
}
