public import ErrorCatalog

/// What one check of `watchboxctl doctor` says.
public struct DoctorFinding: Codable, Equatable, Sendable {
    /// `config`, `storage`, `relay` …
    public var check: String
    public var state: HealthState
    /// What was read, in one line.
    public var evidence: String
    /// Nil while ok, and where the catalog has no entry.
    public var code: ErrorCode?
    /// One command or sentence; nil while ok.
    public var hint: String?
    public var milliseconds: Double

    public init(
        check: String, state: HealthState, evidence: String, code: ErrorCode? = nil, hint: String? = nil,
        milliseconds: Double = 0
    ) {
        self.check = check
        self.state = state
        self.evidence = evidence
        self.code = code
        self.hint = hint
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
