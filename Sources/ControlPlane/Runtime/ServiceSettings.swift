/// What `watchboxd relay --config` reads: `/run/watchbox/service/relay.json`. Holds no secret.
public struct RelayServiceSettings: Codable, Equatable, Sendable {
    /// Where systemd keeps the state of the relay's dynamic user.
    public static let stateDirectory = "/var/lib/private/watchbox-relay"

    /// The API for the relay's operator.
    public struct API: Codable, Equatable, Sendable {
        public var host: String
        public var port: Int
        /// File with the bearer token; nil: on loopback only.
        public var tokenFile: String?

        public init(host: String, port: Int, tokenFile: String? = nil) {
            self.host = host
            self.port = port
            self.tokenFile = tokenFile
        }
    }

    public var host: String
    public var port: Int
    /// PEM; both or none.
    public var tlsCertificateFile: String?
    public var tlsKeyFile: String?
    /// One publish key per line; nil: see `isOpen`.
    public var publishKeysFile: String?
    /// Anybody may publish when there is no file of keys. Nil: on loopback only; elsewhere the relay makes a key in
    /// `stateDirectory`.
    public var isOpen: Bool?
    /// Where the relay keeps a key that it made; nil: it makes none.
    public var stateDirectory: String?
    /// One play key per line; nil: anybody may play, unless links are asked for.
    public var playKeysFile: String?
    /// The secret that play links are signed with.
    public var playLinkSecretFile: String?
    /// Networks in CIDR notation; nil or empty: all.
    public var allow: [String]?
    /// Comes before `allow`.
    public var deny: [String]?
    /// How long a publisher may be away before its viewers are sent off.
    public var graceSeconds: Double
    /// Nil: there is none.
    public var api: API?
    /// URLs of relays that streams are handed on to, without secrets.
    public var forward: [String]?
    /// File with more of them.
    public var forwardFile: String?
    /// PEM file of the authorities to trust for those relays.
    public var forwardCAFile: String?

    public init(
        host: String, port: Int, tlsCertificateFile: String? = nil, tlsKeyFile: String? = nil,
        publishKeysFile: String? = nil, isOpen: Bool? = nil, stateDirectory: String? = nil,
        playKeysFile: String? = nil, playLinkSecretFile: String? = nil, allow: [String]? = nil, deny: [String]? = nil,
        graceSeconds: Double = 10, api: API? = nil, forward: [String]? = nil, forwardFile: String? = nil,
        forwardCAFile: String? = nil
    ) {
        self.host = host
        self.port = port
        self.tlsCertificateFile = tlsCertificateFile
        self.tlsKeyFile = tlsKeyFile
        self.publishKeysFile = publishKeysFile
        self.isOpen = isOpen
        self.stateDirectory = stateDirectory
        self.playKeysFile = playKeysFile
        self.playLinkSecretFile = playLinkSecretFile
        self.allow = allow
        self.deny = deny
        self.graceSeconds = graceSeconds
        self.api = api
        self.forward = forward
        self.forwardFile = forwardFile
        self.forwardCAFile = forwardCAFile
    }
}

/// What `watchboxd kas --config` reads: `/run/watchbox/service/kas.json`, with the names of
/// `KeyAccessServerConfiguration`.
struct KeyAccessServiceSettings: Codable, Equatable, Sendable {
    struct TLSFiles: Codable, Equatable, Sendable {
        var certificateChainFile: String
        var privateKeyFile: String
    }

    /// Where systemd keeps the state of a dynamic user; `/var/lib/watchbox-kas` is a link, which the service does not follow.
    var stateDirectory = "/var/lib/private/watchbox-kas"
    var host: String
    var port: Int
    var tls: TLSFiles?
    var keyEpochSeconds: Int64
    var keyOverlapSeconds: Int64
}

/// What the health daemon watches: `/run/watchbox/service/health.json`. Holds no secret; it reads it again when it
/// changes.
public struct HealthServiceSettings: Codable, Equatable, Sendable {
    /// A host to reach.
    public struct Host: Codable, Equatable, Sendable {
        /// Of the relay in the configuration, or `kas`.
        public var name: String
        public var host: String
        public var port: Int
        public var tls: Bool

        public init(name: String, host: String, port: Int, tls: Bool) {
            self.name = name
            self.host = host
            self.port = port
            self.tls = tls
        }
    }

    /// A camera that shall run.
    public struct Camera: Codable, Equatable, Sendable {
        public var id: String
        /// Name of its relay.
        public var relay: String

        public init(id: String, relay: String) {
            self.id = id
            self.relay = relay
        }
    }

    /// May reboot the box as its last step.
    public var reboot: Bool
    /// `host:port` for metrics over TCP; nil: on the socket only.
    public var metricsListen: String?
    public var relays: [Host]
    public var kas: Host?
    public var cameras: [Camera]
    /// `WB-1005 …` while the operator's files are not what runs; nil when they are.
    public var configurationProblem: String?

    public init(
        reboot: Bool, metricsListen: String?, relays: [Host], kas: Host?, cameras: [Camera],
        configurationProblem: String? = nil
    ) {
        self.reboot = reboot
        self.metricsListen = metricsListen
        self.relays = relays
        self.kas = kas
        self.cameras = cameras
        self.configurationProblem = configurationProblem
    }
}
