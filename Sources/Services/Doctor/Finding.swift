public import ControlAPI
public import ErrorCatalog

/// What a check found, before it has the check's name.
public struct Finding: Equatable, Sendable {
    public var state: HealthState
    public var evidence: String
    public var code: ErrorCode?
    /// Nil: the catalog's text.
    public var hint: String?

    private init(_ state: HealthState, _ evidence: String, _ code: ErrorCode?, _ hint: String?) {
        self.state = state
        self.evidence = evidence
        self.code = code
        self.hint = hint ?? code?.entry?.hint
    }

    public static func ok(_ evidence: String) -> Finding { Finding(.ok, evidence, nil, nil) }

    public static func warn(_ evidence: String, _ code: ErrorCode? = nil, hint: String? = nil) -> Finding {
        Finding(.warn, evidence, code, hint)
    }

    public static func fail(_ evidence: String, _ code: ErrorCode? = nil, hint: String? = nil) -> Finding {
        Finding(.fail, evidence, code, hint)
    }

    /// This machine, or this user, cannot tell.
    public static func unknown(_ evidence: String, hint: String? = nil) -> Finding {
        Finding(.unknown, evidence, nil, hint)
    }

    /// As a reading of the box was assessed.
    static func of(_ state: HealthState, _ evidence: String, _ code: ErrorCode) -> Finding {
        Finding(state, evidence, state == .warn || state == .fail ? code : nil, nil)
    }

    /// The worst of several about different objects, with the evidence of those that are as bad; all of it when well.
    static func worst(of findings: [Finding]) -> Finding? {
        guard var worst = findings.first else { return nil }
        for finding in findings where finding.severity > worst.severity { worst = finding }
        worst.evidence = findings.filter { $0.state == worst.state }.map(\.evidence).joined(separator: "; ")
        return worst
    }

    private var severity: Int {
        switch state {
        case .ok: 0
        case .unknown: 1
        case .warn: 2
        case .fail: 3
        }
    }
}
