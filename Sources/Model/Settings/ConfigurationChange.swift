/// The least that a change needs.
public enum ConfigurationAction: String, Codable, Sendable, CaseIterable {
    /// Names and positions: nothing restarts.
    case none
    case startCamera = "start-camera"
    case stopCamera = "stop-camera"
    /// It goes on publishing, without a gap; where it cannot, it is restarted.
    case changeCamera = "change-camera"
    case restartCamera = "restart-camera"
    case restartService = "restart-service"
}

/// What becomes different in one object, and the least that this needs.
public struct ConfigurationChange: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case added
        case removed
        case changed
    }

    /// `camera.front`, `relay.main`, `hook.phone`, `kas`, `box`, `health`, `relay_server`, `kas_server`.
    public var object: String
    public var kind: Kind
    /// `bitrate: 2000000 → 1000000`; addresses without what could be secret in them.
    public var details: [String]
    public var action: ConfigurationAction
    /// IDs of the cameras, or of the services `health`, `relay`, `kas` and `hooks`, that the action is for.
    public var affects: [String]

    public init(object: String, kind: Kind, details: [String], action: ConfigurationAction, affects: [String]) {
        self.object = object
        self.kind = kind
        self.details = details
        self.action = action
        self.affects = affects
    }
}
