/// What a hook can be notified of.
public enum HookTopic: String, CaseIterable, Sendable {
    case camera
    /// What cameras see and report: motion, tampering, inputs. Apart from `camera`, since it is not a change of the
    /// box's state.
    case motion
    case config
    case health
    case relay
    case kas
    case key
    case system

    /// Those of a hook that names none.
    public static let defaults: [HookTopic] = [.camera, .health, .relay, .kas, .system]

    /// Whether the object of such an event is a camera's ID.
    public var isAboutCameras: Bool { [.camera, .motion, .key].contains(self) }
}

/// What a hook's receiver understands.
public enum HookKind: String, CaseIterable, Sendable {
    /// A JSON document, for home automation.
    case webhook
    /// Text with headers, for the service and the app of that name.
    case ntfy
}
