/// What a device says of itself in a ProbeMatch, a Hello or a Bye. All of it is a claim: who sends the datagram is not
/// known.
public struct DiscoveredTarget: Equatable, Sendable {
    /// Who it is, whatever its address: its endpoint reference in the form of `DeviceIdentity`. Nil when it names none, or
    /// one that identifies nothing.
    public var endpoint: String?
    /// Qualified names as they were written, such as `dn:NetworkVideoTransmitter`.
    public var types: [String]
    /// URIs as they were written.
    public var scopes: [String]
    /// URLs of its ONVIF device service, repaired (see `DiscoveryAddress`): the likeliest one first.
    public var addresses: [String]
    /// Grows when it changes what it says.
    public var metadataVersion: UInt32
    /// Where the datagram came from: an IP address, of IPv6 within the link with its zone (`fe80::1%eth0`).
    public var source: String

    public init(
        endpoint: String?, types: [String] = [], scopes: [String] = [], addresses: [String] = [],
        metadataVersion: UInt32 = 0, source: String
    ) {
        self.endpoint = endpoint.flatMap { DeviceIdentity.normalizedEndpoint($0) }
        self.types = types
        self.scopes = scopes
        self.addresses = addresses
        self.metadataVersion = metadataVersion
        self.source = source
    }

    /// From its scopes, decoded; nil when it does not say.
    public var name: String? { ScopeValue.first(of: ["name"], in: scopes) }
    public var hardware: String? { ScopeValue.first(of: ["hardware"], in: scopes) }
    public var manufacturer: String? { ScopeValue.first(of: ["manufacturer", "mfr"], in: scopes) }
    /// Parts of it joined by commas, as the installer wrote them.
    public var location: String? { ScopeValue.all(of: "location", in: scopes) }

    /// It speaks ONVIF as far as it says so: printers and computers answer Probes as well.
    ///
    /// The type `Device` alone is not enough, because Windows has one of that name (`wsdp:Device`) and the prefix is all
    /// that is left of its namespace.
    public var isCamera: Bool {
        types.contains { Self.localName($0) == "NetworkVideoTransmitter" }
            || scopes.contains { ScopeValue.isONVIF($0) }
            || types.contains { type in
                Self.localName(type) == "Device"
                    && (type.hasPrefix("tds:") || addresses.contains { DiscoveryAddress($0)?.isONVIFPath == true })
            }
    }

    static func localName(_ type: String) -> Substring {
        type.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
    }
}
