public import CameraModel
public import ErrorCatalog
public import Settings
public import Wire

/// `GET /api/v1/status`: one screen about the whole box.
public struct BoxStatus: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        case ok
        case degraded
    }

    public var schema = "watchbox.status/1"
    public var name: String
    public var version: String
    public var state: State
    /// Why it is degraded, one sentence; nil when ok.
    public var reason: String?
    /// The command that helps; nil when ok.
    public var hint: String?
    /// Seconds since 1970, and since boot.
    public var time: Int64
    public var uptimeSeconds: Int64
    public var isClockSynchronised: Bool?
    public var generation: Int
    /// Set when the files were not valid and the last good generation runs.
    public var configurationProblem: String?
    public var cameras: [CameraDocument]
    public var relays: [RelayDocument]
    public var keyAccess: KeyAccessDocument
    /// Nil when the health daemon does not answer.
    public var health: HealthReport?
    public var recoveriesToday: Int
    public var secretProtection: String
    public var rebootRequired: Bool
    /// Objects of the configuration that this version refuses, by name, at most 64: nothing of them is used. Nil: none.
    public var quarantined: [QuarantinedObject]?

    public init(
        name: String, version: String, state: State, reason: String? = nil, hint: String? = nil, time: Int64,
        uptimeSeconds: Int64, isClockSynchronised: Bool? = nil, generation: Int, configurationProblem: String? = nil,
        cameras: [CameraDocument], relays: [RelayDocument], keyAccess: KeyAccessDocument, health: HealthReport? = nil,
        recoveriesToday: Int = 0, secretProtection: String, rebootRequired: Bool = false,
        quarantined: [QuarantinedObject]? = nil
    ) {
        self.name = name
        self.version = version
        self.state = state
        self.reason = reason
        self.hint = hint
        self.time = time
        self.uptimeSeconds = uptimeSeconds
        self.isClockSynchronised = isClockSynchronised
        self.generation = generation
        self.configurationProblem = configurationProblem
        self.cameras = cameras
        self.relays = relays
        self.keyAccess = keyAccess
        self.health = health
        self.recoveriesToday = recoveriesToday
        self.secretProtection = secretProtection
        self.rebootRequired = rebootRequired
        self.quarantined = quarantined
    }
}

public struct VersionDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.version/1"
    public var version: String
    /// Of the API: 1.
    public var api: Int

    public init(version: String, api: Int = 1) {
        self.version = version
        self.api = api
    }
}

/// One relay of the configuration. Its secret (stream key, user, password) is only ever written.
public struct RelayDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.relay-target/1"
    public var name: String
    /// Without user, password and query; nil when the whole URL is a secret.
    public var url: String?
    public var hasSecret: Bool
    public var certificateAuthorityFile: String?
    /// `sha256//BASE64` of the only public key that is accepted; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    /// `keeps-metadata`, `drops-metadata` or `parses-avcc`.
    public var profile: String
    /// Hosts besides its own that the relay may send cameras to.
    public var redirectHosts: [String]?
    public var origin: String
    /// IDs of the cameras that publish there.
    public var cameras: [String]

    public init(
        name: String, url: String?, hasSecret: Bool, certificateAuthorityFile: String?, publicKeyPin: String? = nil,
        profile: String, redirectHosts: [String]? = nil, origin: String, cameras: [String]
    ) {
        self.redirectHosts = redirectHosts
        self.name = name
        self.url = url
        self.hasSecret = hasSecret
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.profile = profile
        self.origin = origin
        self.cameras = cameras
    }
}

public struct RelayListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.relays/1"
    public var relays: [RelayDocument]

    public init(relays: [RelayDocument]) {
        self.relays = relays
    }
}

/// Body of `PUT /api/v1/relays/{name}`. Of a relay that is there, nil leaves a setting as it is and "" takes it away.
public struct RelayRequest: Codable, Equatable, Sendable {
    public var url: String?
    public var certificateAuthorityFile: String?
    public var publicKeyPin: String?
    public var profile: String?
    /// An empty list takes all away.
    public var redirectHosts: [String]?

    public init(
        url: String? = nil, certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil,
        profile: String? = nil, redirectHosts: [String]? = nil
    ) {
        self.redirectHosts = redirectHosts
        self.url = url
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.profile = profile
    }
}

/// `GET` and body of `PUT /api/v1/kas`; `hasToken` and `origin` are read-only.
public struct KeyAccessDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.kas/1"
    /// Nil when none is set.
    public var url: String?
    public var certificateAuthorityFile: String?
    /// `sha256//BASE64` of the only public key that is accepted; nil: any that the certificates vouch for. In a request
    /// nil leaves it as it is, and "" takes it away.
    public var publicKeyPin: String?
    /// `auto`, `always` or `never`: whether headers name the KAS key. In a request nil leaves it as it is.
    public var keyIdentifiers: String?
    public var hasToken: Bool
    /// Unix seconds; nil for no token, or one that does not say.
    public var tokenEndsAt: Int64?
    /// What is wrong with the token; nil when nothing is.
    public var code: ErrorCode?
    /// Cameras that have a token for their own stream alone.
    public var camerasWithOwnToken: Int?
    public var origin: String

    public init(
        url: String?, certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil,
        keyIdentifiers: String? = nil, hasToken: Bool = false, tokenEndsAt: Int64? = nil,
        code: ErrorCode? = nil, camerasWithOwnToken: Int? = nil, origin: String = "store"
    ) {
        self.keyIdentifiers = keyIdentifiers
        self.tokenEndsAt = tokenEndsAt
        self.code = code
        self.camerasWithOwnToken = camerasWithOwnToken
        self.url = url
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.hasToken = hasToken
        self.origin = origin
    }
}

/// `GET /api/v1/device`: the key with which the box signs what it registers at the key access server. Never a private
/// key.
public struct DeviceKeyDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.device/1"
    /// SubjectPublicKeyInfo PEM; nil when the box has none and signs nothing.
    public var publicKey: String?
    /// `sha256//BASE64` of the SubjectPublicKeyInfo.
    public var fingerprint: String?
    /// Of the key that takes over with `switch`; nil when there is none.
    public var nextPublicKey: String?
    public var nextFingerprint: String?
    /// Cameras that have a key to sign their stream with.
    public var camerasThatSign: Int

    public init(
        publicKey: String? = nil, fingerprint: String? = nil, nextPublicKey: String? = nil,
        nextFingerprint: String? = nil, camerasThatSign: Int = 0
    ) {
        self.publicKey = publicKey
        self.fingerprint = fingerprint
        self.nextPublicKey = nextPublicKey
        self.nextFingerprint = nextFingerprint
        self.camerasThatSign = camerasThatSign
    }
}

/// Body of every `PUT …/secret`, `…/password` and `…/token`. Never shown again.
public struct SecretRequest: Codable, Sendable {
    public var secret: String

    public init(secret: String) {
        self.secret = secret
    }
}

/// What `watchboxd hand-over` brings control: secrets of the box by name, which only systemd may open.
public struct HandOverRequest: Codable, Sendable {
    public var secrets: [String: String]

    public init(secrets: [String: String]) {
        self.secrets = secrets
    }
}

extension HandOverRequest: Concealed {
    public var description: String { "(secrets)" }
}

extension SecretRequest: Concealed {
    public var description: String { "(a secret)" }
}

/// What happened on the box; each as one server-sent event of its topic.
public struct EventDocument: Codable, Equatable, Sendable {
    public var id: Int64
    /// Microseconds since 1970.
    public var time: Int64
    /// `camera`, `config`, `health`, `relay`, `kas`, `key`, `system`.
    public var topic: String
    public var object: String?
    public var code: ErrorCode?
    public var text: String
    /// Of the topic `camera`: what the camera of `object` saw or was notified of, for those who act on it.
    public var sensorEvent: SensorEvent?

    public init(
        id: Int64, time: Int64, topic: String, object: String? = nil, code: ErrorCode? = nil, text: String,
        sensorEvent: SensorEvent? = nil
    ) {
        self.sensorEvent = sensorEvent
        self.id = id
        self.time = time
        self.topic = topic
        self.object = object
        self.code = code
        self.text = text
    }
}

/// `GET /api/v1/logs`, oldest first; with `follow=1` each line is an event `log` with a `LogLine`.
public struct LogDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.logs/1"
    public var lines: [LogLine]

    public init(lines: [LogLine]) {
        self.lines = lines
    }
}

public struct LogLine: Codable, Equatable, Sendable {
    /// Microseconds since 1970.
    public var time: Int64
    public var unit: String?
    public var camera: String?
    /// `error`, `warning`, `notice`, `info`, `debug`.
    public var level: String
    public var code: ErrorCode?
    public var message: String
    public var cursor: String

    public init(
        time: Int64, unit: String?, camera: String?, level: String, code: ErrorCode?, message: String, cursor: String
    ) {
        self.time = time
        self.unit = unit
        self.camera = camera
        self.level = level
        self.code = code
        self.message = message
        self.cursor = cursor
    }
}
