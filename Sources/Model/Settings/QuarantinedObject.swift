/// An object of the configuration that this version refuses. It is set aside whole: nothing of it is used, nothing of it
/// is changed, and a version that takes it finds it as it was.
public struct QuarantinedObject: Codable, Equatable, Sendable {
    /// More issues than this of one object are not kept; no one reads them.
    public static let issueLimit = 8

    /// `camera.front`, `relay.main`, `hook.phone`, `kas`, `box`, `health`, `relay_server`, `kas_server`; what a file or a
    /// later version calls otherwise is called so here, too.
    public var object: String
    /// `conf.d/10-cams.toml:4`, or `store`.
    public var origin: String
    /// What is wrong with it, at least one.
    public var issues: [ConfigurationIssue]
    /// How it is corrected or removed.
    public var hint: String

    public init(object: String, origin: String, issues: [ConfigurationIssue], hint: String) {
        self.object = object
        self.origin = origin
        self.issues = issues
        self.hint = hint
    }

    /// It was added by command, and is no operator's file.
    public var isStored: Bool { origin == "store" }

    /// Why, in a line: the first issue, with its place.
    public var reason: String {
        guard let first = issues.first else { return "this version refuses it" }
        let key = first.key.isEmpty || first.key == object ? "" : "\(first.key) "
        let place = isStored ? "" : " (\(first.place))"
        let more = issues.count > 1 ? ", and \(issues.count - 1) more" : ""
        return "\(first.code) \(key)\(first.reason)\(place)\(more)"
    }
}
