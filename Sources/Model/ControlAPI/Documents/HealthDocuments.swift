public import ErrorCatalog

/// What one check says. `unknown` is said when this machine cannot determine it, never taken for ok.
public enum HealthState: String, Codable, Sendable, CaseIterable {
    case ok
    case warn
    case fail
    case unknown
}

/// One check of the box or of one of its cameras.
public struct HealthCheck: Codable, Equatable, Sendable {
    /// `publish`, `camera`, `frozen-picture`, `encoder`, `audio`, `power`, `heat`, `storage-read-only`, `disk`,
    /// `memory`, `cpu`, `clock`, `network-link`, `network-address`, `network-gateway`, `network-dns`, `relay`, `kas`,
    /// `watchdog`, `certificate`, `key`, `unit` …
    public var check: String
    /// The camera, relay or interface that it is about; nil: the box.
    public var object: String?
    public var state: HealthState
    /// Since when it is in this state: seconds since 1970, by a clock that may not have been set.
    public var since: Int64
    /// What was read, with its unit: `last acknowledgement 41.2 s ago`.
    public var evidence: String
    /// Nil while ok, and where nothing is known.
    public var code: ErrorCode?
    /// One command or sentence; nil while ok.
    public var hint: String?
    /// A person has seen it.
    public var isAcknowledged: Bool

    public init(
        check: String, object: String? = nil, state: HealthState, since: Int64, evidence: String,
        code: ErrorCode? = nil, hint: String? = nil, isAcknowledged: Bool = false
    ) {
        self.check = check
        self.object = object
        self.state = state
        self.since = since
        self.evidence = evidence
        self.code = code
        self.hint = hint
        self.isAcknowledged = isAcknowledged
    }
}

extension HealthCheck {
    /// It warns or fails, and no one has acknowledged it.
    public var isOpen: Bool { (state == .fail || state == .warn) && !isAcknowledged }
}

/// `GET /api/v1/health`
public struct HealthReport: Codable, Equatable, Sendable {
    public var schema = "watchbox.health/1"
    /// The worst of the checks that are known, as far as no one has acknowledged it.
    public var state: HealthState
    /// Seconds since 1970.
    public var time: Int64
    public var checks: [HealthCheck]
    public var ladder: LadderDocument
    /// Recoveries in the last 24 h, by level (`L1` …).
    public var recoveries: [String: Int]

    public init(
        state: HealthState, time: Int64, checks: [HealthCheck], ladder: LadderDocument, recoveries: [String: Int]
    ) {
        self.state = state
        self.time = time
        self.checks = checks
        self.ladder = ladder
        self.recoveries = recoveries
    }
}

/// The escalation ladder: what was done, and what may still be done.
public struct LadderDocument: Codable, Equatable, Sendable {
    public struct Step: Codable, Equatable, Sendable {
        /// `L1` restart the camera, `L2` reset the USB device, `L3` renew the network, `L4` restart the target,
        /// `L5` reboot.
        public var level: String
        public var action: String
        /// In the budget's window.
        public var used: Int
        public var allowed: Int
        public var windowSeconds: Int
        /// Seconds since 1970 of the last use; nil: never.
        public var last: Int64?

        public init(level: String, action: String, used: Int, allowed: Int, windowSeconds: Int, last: Int64?) {
            self.level = level
            self.action = action
            self.used = used
            self.allowed = allowed
            self.windowSeconds = windowSeconds
            self.last = last
        }
    }

    public var steps: [Step]

    public init(steps: [Step]) {
        self.steps = steps
    }
}

/// One line of the 24 h history: a change of state, or a step of the ladder.
public struct HealthEvent: Codable, Equatable, Sendable {
    public var id: Int64
    /// Seconds since 1970.
    public var time: Int64
    /// `state` or `recovery`.
    public var kind: String
    public var check: String
    public var object: String?
    public var from: HealthState?
    public var to: HealthState?
    /// Of a recovery: `L1` ….
    public var level: String?
    public var text: String
    public var code: ErrorCode?

    public init(
        id: Int64, time: Int64, kind: String, check: String, object: String? = nil, from: HealthState? = nil,
        to: HealthState? = nil, level: String? = nil, text: String, code: ErrorCode? = nil
    ) {
        self.id = id
        self.time = time
        self.kind = kind
        self.check = check
        self.object = object
        self.from = from
        self.to = to
        self.level = level
        self.text = text
        self.code = code
    }
}

/// `GET /api/v1/health/history`, newest first.
public struct HealthHistoryDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.health-history/1"
    public var events: [HealthEvent]

    public init(events: [HealthEvent]) {
        self.events = events
    }
}
