public import ErrorCatalog

/// One hook of the configuration, and its state. Its secrets (the whole URL, a token) are only ever written.
public struct HookDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.hook/1"
    public var name: String
    /// `webhook` or `ntfy`.
    public var kind: String
    /// Without user, password and query; nil when the whole URL is a secret.
    public var url: String?
    /// The URL is stored as a secret.
    public var hasSecret: Bool
    /// A token is stored, which the receiver is shown.
    public var hasToken: Bool
    /// Topics that it reports.
    public var events: [String]
    /// IDs of the cameras that it reports on; none: all.
    public var cameras: [String]
    public var certificateAuthorityFile: String?
    /// `sha256//BASE64` of the only public key that is accepted; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    public var isEnabled: Bool
    public var origin: String
    /// Nil while it is switched off, or its process does not answer.
    public var state: HookState?

    public init(
        name: String, kind: String, url: String?, hasSecret: Bool, hasToken: Bool, events: [String], cameras: [String],
        certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil, isEnabled: Bool, origin: String,
        state: HookState? = nil
    ) {
        self.name = name
        self.kind = kind
        self.url = url
        self.hasSecret = hasSecret
        self.hasToken = hasToken
        self.events = events
        self.cameras = cameras
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.isEnabled = isEnabled
        self.origin = origin
        self.state = state
    }
}

/// The state of a hook; figures are of its process, which begins again when hooks change.
public struct HookState: Codable, Equatable, Sendable {
    /// The last request came to nothing; it is made again.
    public var isFailing: Bool
    /// Events that wait.
    public var queued: Int
    /// Messages that arrived.
    public var delivered: UInt64
    /// Events that were not sent individually: too many at once, too old, or refused.
    public var missed: UInt64
    /// Microseconds since 1970; nil: none arrived yet.
    public var lastDelivered: Int64?
    /// Of the last message that did not arrive, as long as none has arrived since.
    public var code: ErrorCode?
    /// Never more of an answer than its status.
    public var reason: String?

    public init(
        isFailing: Bool, queued: Int, delivered: UInt64, missed: UInt64, lastDelivered: Int64? = nil,
        code: ErrorCode? = nil, reason: String? = nil
    ) {
        self.isFailing = isFailing
        self.queued = queued
        self.delivered = delivered
        self.missed = missed
        self.lastDelivered = lastDelivered
        self.code = code
        self.reason = reason
    }
}

/// `GET /api/v1/hooks`.
public struct HookListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.hooks/1"
    public var hooks: [HookDocument]

    public init(hooks: [HookDocument]) {
        self.hooks = hooks
    }
}

/// Body of `PUT /api/v1/hooks/{name}`. Of a hook that is there, nil leaves a setting as it is and "" takes it away.
public struct HookRequest: Codable, Equatable, Sendable {
    public var kind: String?
    public var url: String?
    public var certificateAuthorityFile: String?
    public var publicKeyPin: String?
    /// An empty list: the usual ones.
    public var events: [String]?
    /// An empty list: all.
    public var cameras: [String]?
    public var isEnabled: Bool?

    public init(
        kind: String? = nil, url: String? = nil, certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil,
        events: [String]? = nil, cameras: [String]? = nil, isEnabled: Bool? = nil
    ) {
        self.kind = kind
        self.url = url
        self.certificateAuthorityFile = certificateAuthorityFile
        self.publicKeyPin = publicKeyPin
        self.events = events
        self.cameras = cameras
        self.isEnabled = isEnabled
    }
}

/// The result of a test message: the answer to `POST /api/v1/hooks/{name}/test`.
public struct HookTestDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.hook-test/1"
    public var name: String
    public var isDelivered: Bool
    /// HTTP status of the answer; nil when there was none.
    public var status: Int?
    public var milliseconds: Int
    /// Why it was not delivered, and what to do.
    public var code: ErrorCode?
    public var reason: String?
    public var hint: String?

    public init(
        name: String, isDelivered: Bool, status: Int? = nil, milliseconds: Int, code: ErrorCode? = nil,
        reason: String? = nil, hint: String? = nil
    ) {
        self.name = name
        self.isDelivered = isDelivered
        self.status = status
        self.milliseconds = milliseconds
        self.code = code
        self.reason = reason
        self.hint = hint
    }
}

/// `GET /api/v1/hooks` at the socket of the hooks themselves: the state of each, by its name.
public struct HookStatesDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.hook-states/1"
    public var hooks: [String: HookState]

    public init(hooks: [String: HookState]) {
        self.hooks = hooks
    }
}

/// `GET /api/v1/events/latest`: where to begin for those who need what comes from now on.
public struct EventPositionDocument: Codable, Equatable, Sendable {
    /// Of the newest event; 0 before the first.
    public var id: Int64

    public init(id: Int64) {
        self.id = id
    }
}

/// What `watchboxd hooks` reads: `/run/watchbox/service/hooks.json`, written by control. Names secrets, holds none.
public struct HookServiceSettings: Codable, Equatable, Sendable {
    public struct Hook: Codable, Equatable, Sendable {
        public var name: String
        /// `webhook` or `ntfy`.
        public var kind: String
        public var url: String?
        /// Name of the secret that holds the whole URL; it is used instead of `url`.
        public var urlSecret: String?
        /// Name of the secret that the receiver is shown.
        public var tokenSecret: String?
        public var events: [String]
        /// None: all.
        public var cameras: [String]
        public var certificateAuthorityFile: String?
        public var publicKeyPin: String?

        public init(
            name: String, kind: String, url: String? = nil, urlSecret: String? = nil, tokenSecret: String? = nil,
            events: [String], cameras: [String] = [], certificateAuthorityFile: String? = nil,
            publicKeyPin: String? = nil
        ) {
            self.name = name
            self.kind = kind
            self.url = url
            self.urlSecret = urlSecret
            self.tokenSecret = tokenSecret
            self.events = events
            self.cameras = cameras
            self.certificateAuthorityFile = certificateAuthorityFile
            self.publicKeyPin = publicKeyPin
        }
    }

    /// Name of the box, for people.
    public var box: String
    public var hooks: [Hook]

    public init(box: String, hooks: [Hook]) {
        self.box = box
        self.hooks = hooks
    }

    /// The names of the secrets that these settings refer to.
    public var secretNames: Set<String> { Set(hooks.flatMap { [$0.urlSecret, $0.tokenSecret].compactMap(\.self) }) }
}
