/// A device says, without being asked, that it has come or goes. Whoever is on the network can say that: it is a hint where
/// to look, never a proof.
public struct Announcement: Equatable, Sendable {
    public enum Kind: String, Sendable {
        /// It has come, or has another address.
        case hello
        case bye
    }

    public var kind: Kind
    /// Who it claims to be, as `DeviceIdentity.endpoint`.
    public var endpoint: String
    /// Where the message came from.
    public var address: String
    /// Of its ONVIF device service, repaired; nil when it names none.
    public var url: String?
    /// The interface on which it came.
    public var network: String
    public var name: String?
    public var hardware: String?

    public init(
        kind: Kind, endpoint: String, address: String, url: String? = nil, network: String, name: String? = nil,
        hardware: String? = nil
    ) {
        self.kind = kind
        self.endpoint = endpoint
        self.address = address
        self.url = url
        self.network = network
        self.name = name
        self.hardware = hardware
    }
}
