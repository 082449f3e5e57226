/// One thing that a device announced by itself.
public struct EventNotification: Equatable, Sendable {
    /// `PropertyOperation` of the message.
    public enum Operation: String, Sendable {
        /// The state as it was when the subscription began.
        case initialized = "Initialized"
        case changed = "Changed"
        case deleted = "Deleted"
    }

    /// As sent: `tns1:RuleEngine/CellMotionDetector/Motion`.
    public var topic: String
    /// `motion`, `tamper`, `digitalInput`, or the topic's last part.
    public var kind: String
    /// Whether it began (true) or ended (false); nil for one without duration.
    public var isActive: Bool?
    public var operation: Operation?
    /// Of the camera's clock: milliseconds since 1970; nil when it could not be read.
    public var time: Int64?
    /// Where it comes from (a token of a video source, a rule's name), by name.
    public var source: [String: String] = [:]

    /// One of those kinds that have a name of their own, whatever the camera calls them.
    public var isOfKnownKind: Bool { ["motion", "tamper", "digitalInput"].contains(kind) }

    /// The value that says most of where it comes from: an input's token, a video source's, a rule's name.
    public var sourceName: String? {
        let names = [
            "InputToken", "DigitalInput", "VideoSourceToken", "VideoSource", "VideoSourceConfigurationToken", "Source",
            "Token", "Rule",
        ]
        let named = names.lazy.compactMap { source[$0] }.first { !$0.isEmpty }
        return named ?? source.sorted { $0.key < $1.key }.first { !$0.value.isEmpty }?.value
    }
}
