internal import ControlAPI
internal import ErrorCatalog

/// What one look says: not yet a state, which `HealthLedger` makes of several.
struct Finding: Equatable, Sendable {
    var check: CheckName
    var object: String?
    var state: HealthState
    var evidence: String
    var code: ErrorCode?
    /// Nil: the catalog's text.
    var hint: String?
    /// The monitor knows it, and nobody needs to look.
    var isAcknowledged = false
    /// Where one check has several that are each worth a look, and lead to one state: what a person has acknowledged is
    /// one of them.
    var cause: String?

    init(
        _ check: CheckName, _ object: String? = nil, _ state: HealthState, _ evidence: String, code: ErrorCode? = nil,
        hint: String? = nil
    ) {
        self.check = check
        self.object = object
        self.state = state
        self.evidence = evidence
        let isTrouble = state == .warn || state == .fail
        self.code = isTrouble ? code : nil
        self.hint = isTrouble ? hint ?? code?.entry?.hint : nil
    }
}

extension HealthState {
    /// Higher is worse; `unknown` is outside the order and counts as nothing.
    var severity: Int {
        switch self {
        case .unknown: 0
        case .ok: 1
        case .warn: 2
        case .fail: 3
        }
    }
}
