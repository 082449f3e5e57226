public import CameraModel
public import HookDelivery
public import KeyAccessClient

/// The configuration of a box: files and store merged, checked, with defaults filled in. Names secrets, holds none.
public struct BoxSettings: Sendable {
    /// For people.
    public var name: String
    /// Network cameras that may be active at once.
    public var pulls: Int
    /// Small pictures of network cameras are kept on the disk, in clear.
    public var previews: Bool
    /// By name.
    public var relays: [String: RelaySettings]
    /// Nil: no key access server is set, so no camera can run.
    public var kas: KeyAccessSettings?
    /// By ID.
    public var cameras: [String: CameraSettings]
    /// By name.
    public var hooks: [String: HookSettings]
    public var health: HealthSettings
    public var relayServer: RelayServerSettings
    public var kasServer: KeyAccessServerSettings
    /// Where each object is defined: `camera.front` → `conf.d/10-cams.toml:4`, or `store`. Objects that are nowhere
    /// defined have their defaults and no entry. Two settings that differ only here are equal.
    public var origins: [String: String]

    /// A box without cameras, with all defaults.
    public init() {
        name = SettingDefaults.box.text("name") ?? ""
        pulls = SettingDefaults.box.whole("pulls", default: 16)
        previews = SettingDefaults.box.flag("previews", default: false)
        relays = [:]
        cameras = [:]
        hooks = [:]
        health = HealthSettings(values: [:])
        relayServer = RelayServerSettings(values: [:])
        kasServer = KeyAccessServerSettings(values: [:])
        origins = [:]
    }
}

extension BoxSettings: Equatable {
    public static func == (one: BoxSettings, other: BoxSettings) -> Bool {
        one.name == other.name && one.pulls == other.pulls && one.previews == other.previews
            && one.relays == other.relays && one.kas == other.kas && one.cameras == other.cameras
            && one.hooks == other.hooks
            && one.health == other.health && one.relayServer == other.relayServer && one.kasServer == other.kasServer
    }
}

/// `relay.NAME`
public struct RelaySettings: Equatable, Sendable {
    /// `rtmp[s]://host/application`, without user, password and query; nil when only `secret` holds it.
    public var url: String?
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    public var profile: CameraConfiguration.RelayProfile
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    /// Hosts beside its own that it may send cameras to, `host` or `host:port`.
    public var redirectHosts: [String]
    /// Name of the secret of scope `box` that holds the whole URL; it is used instead of `url`.
    public var secret: String?

    public init(
        url: String? = nil, caFile: String? = nil, profile: CameraConfiguration.RelayProfile = .keepsMetadata,
        publicKeyPin: String? = nil, redirectHosts: [String] = [], secret: String? = nil
    ) {
        self.url = url
        self.caFile = caFile
        self.profile = profile
        self.publicKeyPin = publicKeyPin
        self.redirectHosts = redirectHosts
        self.secret = secret
    }
}

/// `kas`
public struct KeyAccessSettings: Equatable, Sendable {
    public var url: String
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    /// Whether headers name the KAS key that they are made for.
    public var keyIdentifiers: KeyIdentifierUse
    /// Name of the secret of scope `box` that holds the access token.
    public var secret: String?

    public init(
        url: String, caFile: String? = nil, publicKeyPin: String? = nil,
        keyIdentifiers: KeyIdentifierUse = .automatic, secret: String? = nil
    ) {
        self.url = url
        self.caFile = caFile
        self.publicKeyPin = publicKeyPin
        self.keyIdentifiers = keyIdentifiers
        self.secret = secret
    }
}

/// `hook.NAME`
public struct HookSettings: Equatable, Sendable {
    /// Begin the names of its secrets: a configuration that names another of the box's would have it sent to the receiver.
    public static let secretPrefix = "hook-"
    public static let tokenSecretPrefix = "bearer-"

    /// `http[s]://host/path`, without user, password and query; nil when only `secret` holds it.
    public var url: String?
    public var kind: HookKind
    public var events: [HookTopic]
    /// IDs of cameras; none: all.
    public var cameras: [String]
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    public var enabled: Bool
    /// Name of the secret of scope `box` that holds the whole URL; it is used instead of `url`.
    public var secret: String?
    /// Name of the secret of scope `box` that the receiver is shown.
    public var tokenSecret: String?

    public init(
        url: String? = nil, kind: HookKind = .webhook, events: [HookTopic] = HookTopic.standard,
        cameras: [String] = [], caFile: String? = nil, publicKeyPin: String? = nil, enabled: Bool = true,
        secret: String? = nil, tokenSecret: String? = nil
    ) {
        self.url = url
        self.kind = kind
        self.events = events
        self.cameras = cameras
        self.caFile = caFile
        self.publicKeyPin = publicKeyPin
        self.enabled = enabled
        self.secret = secret
        self.tokenSecret = tokenSecret
    }
}

/// `health`
public struct HealthSettings: Equatable, Sendable {
    /// The box may reboot itself.
    public var reboot: Bool
    /// `host:port` on which metrics are read over TCP; nil: nowhere.
    public var metricsListen: String?

    public init(reboot: Bool = true, metricsListen: String? = nil) {
        self.reboot = reboot
        self.metricsListen = metricsListen
    }
}

/// `relay_server`
public struct RelayServerSettings: Equatable, Sendable {
    public var enabled: Bool
    /// `host:port`
    public var listen: String
    /// File of the keys that publishers must know; nil: it makes one, unless `isOpen` or on loopback.
    public var publishKeys: String?
    /// Everybody may publish when there is no `publishKeys`.
    public var isOpen: Bool
    /// File of the keys that players must know; nil: everybody may play, unless there is a `playLinkSecret`.
    public var playKeys: String?
    /// File of the secret that play links are signed with.
    public var playLinkSecret: String?
    /// Networks in CIDR notation; empty: all.
    public var allow: [String]
    /// Comes before `allow`.
    public var deny: [String]
    /// URLs of relays that streams are handed on to.
    public var forward: [String]
    /// File with more of them.
    public var forwardFile: String?
    /// Certificates (PEM) that are trusted for them instead of the system's.
    public var forwardCAFile: String?
    /// `host:port` of the operator's API; nil: there is none.
    public var apiListen: String?
    /// File of the API's token; nil on loopback only.
    public var apiToken: String?
    /// Both or none.
    public var tlsCertificate: String?
    public var tlsKey: String?

    public init(
        enabled: Bool = false, listen: String = "0.0.0.0:1935", publishKeys: String? = nil, isOpen: Bool = false,
        playKeys: String? = nil, playLinkSecret: String? = nil, allow: [String] = [], deny: [String] = [],
        forward: [String] = [], forwardFile: String? = nil, forwardCAFile: String? = nil, apiListen: String? = nil,
        apiToken: String? = nil,
        tlsCertificate: String? = nil, tlsKey: String? = nil
    ) {
        self.enabled = enabled
        self.listen = listen
        self.publishKeys = publishKeys
        self.isOpen = isOpen
        self.playKeys = playKeys
        self.playLinkSecret = playLinkSecret
        self.allow = allow
        self.deny = deny
        self.forward = forward
        self.forwardFile = forwardFile
        self.forwardCAFile = forwardCAFile
        self.apiListen = apiListen
        self.apiToken = apiToken
        self.tlsCertificate = tlsCertificate
        self.tlsKey = tlsKey
    }
}

/// `kas_server`
public struct KeyAccessServerSettings: Equatable, Sendable {
    public var enabled: Bool
    /// `host:port`
    public var listen: String
    /// Both or none.
    public var tlsCertificate: String?
    public var tlsKey: String?
    /// Hours; 0: until somebody says so.
    public var keyEpochHours: Int
    /// Days.
    public var keyRetentionDays: Int

    public init(
        enabled: Bool = false, listen: String = "127.0.0.1:9443", tlsCertificate: String? = nil,
        tlsKey: String? = nil, keyEpochHours: Int = 24, keyRetentionDays: Int = 7
    ) {
        self.enabled = enabled
        self.listen = listen
        self.tlsCertificate = tlsCertificate
        self.tlsKey = tlsKey
        self.keyEpochHours = keyEpochHours
        self.keyRetentionDays = keyRetentionDays
    }
}
