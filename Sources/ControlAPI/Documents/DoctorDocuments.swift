public import ErrorCatalog

/// What one check of `watchboxctl doctor` says.
public struct DoctorFinding: Codable, Equatable, Sendable {
    /// `config`, `storage`, `relay` …
    public var check: String
    public var state: HealthState
    /// What was read, in one line.
    public var evidence: String
    /// Nil while ok, and where the catalog has no words.
    public var code: ErrorCode?
    /// One command or sentence; nil while ok.
    public var next: String?
    public var milliseconds: Double

    public init(
        check: String, state: HealthState, evidence: String, code: ErrorCode? = nil, next: String? = nil,
        milliseconds: Double = 0
    ) {
        self.check = check
        self.state = state
        self.evidence = evidence
        self.code = code
        self.next = next
        self.milliseconds = milliseconds
    }
}

/// What `watchboxctl doctor --json` prints.
public struct DoctorReport: Codable, Equatable, Sendable {
    public var schema = "watchbox.doctor/1"
    /// Seconds since 1970.
    public var time: Int64
    /// Of the program that looked.
    public var version: String
    /// Without asking a daemon or the network.
    public var isOffline: Bool
    /// In the order of the checks.
    public var findings: [DoctorFinding]

    public init(time: Int64, version: String, isOffline: Bool, findings: [DoctorFinding]) {
        self.time = time
        self.version = version
        self.isOffline = isOffline
        self.findings = findings
    }

    public func count(_ state: HealthState) -> Int { findings.count { $0.state == state } }

    /// The worst of what is known.
    public var state: HealthState {
        if count(.fail) > 0 { return .fail }
        if count(.warn) > 0 { return .warn }
        return count(.ok) > 0 ? .ok : .unknown
    }
}

/// One video device of this machine.
public struct VideoNodeDocument: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        /// Gives pictures of a camera.
        case camera
        /// A codec, a scaler or an image processor: no source.
        case processor
        /// Describes the pictures of another node.
        case metadata
    }

    /// `/dev/video0`
    public var device: String
    /// The driver's name for it: `HD Pro Webcam C920`.
    public var name: String
    public var kind: Kind
    public var bus: String
    /// Of several nodes of one device: 0, 1 …
    public var index: Int
    /// The name under `/dev/v4l/by-id`, the same at every port; nil where there is none.
    public var stableID: String?
    /// The name under `/dev/v4l/by-path`, the same for every device at this port.
    public var stablePath: String?

    public init(
        device: String, name: String, kind: Kind, bus: String, index: Int, stableID: String?, stablePath: String?
    ) {
        self.device = device
        self.name = name
        self.kind = kind
        self.bus = bus
        self.index = index
        self.stableID = stableID
        self.stablePath = stablePath
    }
}

/// What `watchboxctl discover --json` prints.
public struct DiscoveryDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.discovery/1"
    public var nodes: [VideoNodeDocument]
    /// What this version does not look for, or cannot use.
    public var limits: [String]

    public init(nodes: [VideoNodeDocument], limits: [String]) {
        self.nodes = nodes
        self.limits = limits
    }
}
