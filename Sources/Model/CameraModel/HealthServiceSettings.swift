internal import Wire

/// What the health daemon watches: `/run/watchbox/service/health.json`, written by control and read again when it
/// changes. Holds no secret. Each field of it may be missing; those of a camera and of a peer may not, but for
/// `Camera.relay`.
public struct HealthServiceSettings: Codable, Equatable, Sendable {
    /// A camera that is to run.
    public struct Camera: Codable, Equatable, Sendable {
        /// As `CameraConfiguration.id`: it becomes part of the names of units and sockets.
        public var id: String
        /// Name of its relay; nil when it is not known.
        public var relay: String?

        public init(id: String, relay: String? = nil) {
            self.id = id
            self.relay = relay
        }
    }

    /// A relay, or the key access server: a host to reach.
    public struct Peer: Codable, Equatable, Sendable {
        /// Of the relay in the configuration, or `kas`.
        public var name: String
        /// Name or address.
        public var host: String
        /// Of TCP.
        public var port: UInt16
        /// Shows a certificate.
        public var tls: Bool

        public init(name: String, host: String, port: UInt16, tls: Bool) {
            self.name = name
            self.host = host
            self.port = port
            self.tls = tls
        }
    }

    /// May reboot the box as its last step (L5).
    public var reboot: Bool
    /// `host:port` for metrics over TCP; nil: on the socket only.
    public var metricsListen: String?
    /// At most 64.
    public var relays: [Peer]
    /// Nil: none is configured.
    public var kas: Peer?
    /// At most 64.
    public var cameras: [Camera]
    /// `WB-1005 …` while the operator's files are not what runs; nil when they are.
    public var configurationProblem: String?
    /// Objects of the configuration that are not used, in a sentence; nil: there are none.
    public var quarantine: String?

    private static let maxObjects = 64

    public init(
        reboot: Bool = true, metricsListen: String? = nil, relays: [Peer] = [], kas: Peer? = nil,
        cameras: [Camera] = [], configurationProblem: String? = nil, quarantine: String? = nil
    ) {
        self.reboot = reboot
        self.metricsListen = metricsListen
        self.relays = relays
        self.kas = kas
        self.cameras = cameras
        self.configurationProblem = configurationProblem
        self.quarantine = quarantine
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        reboot = try container.value(.reboot, default: true)
        metricsListen = try container.decodeIfPresent(String.self, forKey: .metricsListen)
        relays = try container.value(.relays, default: [])
        kas = try container.decodeIfPresent(Peer.self, forKey: .kas)
        cameras = try container.value(.cameras, default: [])
        configurationProblem = try container.decodeIfPresent(String.self, forKey: .configurationProblem)
        quarantine = try container.decodeIfPresent(String.self, forKey: .quarantine)
        guard cameras.count <= Self.maxObjects, relays.count <= Self.maxObjects else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "more than \(Self.maxObjects) cameras or relays"))
        }
        guard cameras.allSatisfy({ Names.isHyphenated($0.id, limit: 24) }) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a camera's id is not [a-z0-9](-?[a-z0-9])*, 24 at most"))
        }
    }
}
