/// What `watchboxd relay --config` reads: `/run/watchbox/service/relay.json`, written by control. Holds no secret.
public struct RelayServiceSettings: Codable, Equatable, Sendable {
    /// Where systemd keeps the state of the relay's dynamic user.
    public static let stateDirectory = "/var/lib/private/watchbox-relay"

    /// The API for the relay's operator.
    public struct API: Codable, Equatable, Sendable {
        /// Address to serve on.
        public var host: String
        /// 0: any free one.
        public var port: Int
        /// File with the bearer token; nil: on loopback only.
        public var tokenFile: String?

        public init(host: String, port: Int, tokenFile: String? = nil) {
            self.host = host
            self.port = port
            self.tokenFile = tokenFile
        }
    }

    /// Address to serve on.
    public var host: String
    /// 0: any free one.
    public var port: Int
    /// PEM; both or none.
    public var tlsCertificateFile: String?
    /// PEM; see `tlsCertificateFile`.
    public var tlsKeyFile: String?
    /// One publish key per line; nil: see `isOpen`.
    public var publishKeysFile: String?
    /// Anyone may publish when there is no file of keys. Nil: on loopback only; elsewhere the relay makes a key in
    /// `stateDirectory`.
    public var isOpen: Bool?
    /// Where the relay keeps a key that it made; nil: it makes none.
    public var stateDirectory: String?
    /// One play key per line; nil: anyone may play, unless links are asked for.
    public var playKeysFile: String?
    /// The secret that play links are signed with.
    public var playLinkSecretFile: String?
    /// Networks in CIDR notation; nil or empty: all.
    public var allow: [String]?
    /// As `allow`; comes before it.
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
