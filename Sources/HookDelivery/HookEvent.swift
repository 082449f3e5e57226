public import ErrorCatalog

/// Something that happened on the box, as far as a hook tells it. Holds no secret.
public struct HookEvent: Equatable, Sendable {
    /// Rises with each; 0: it is not stored, and whoever comes back cannot ask for it again.
    public var id: Int64
    /// Microseconds since 1970.
    public var time: Int64
    /// `camera`, `motion`, `config`, `health`, `relay`, `kas`, `key`, `system`; `test` when somebody asked for one.
    public var topic: String
    /// The camera, relay or check that it is about.
    public var object: String?
    public var code: ErrorCode?
    public var text: String

    public init(
        id: Int64, time: Int64, topic: String, object: String? = nil, code: ErrorCode? = nil, text: String
    ) {
        self.id = id
        self.time = time
        self.topic = topic
        self.object = object
        self.code = code
        self.text = text
    }
}

/// What is sent in one request.
public struct HookMessage: Equatable, Sendable {
    public var event: HookEvent
    /// Events before this one that were not told by themselves, since the last message that arrived.
    public var missed: UInt64

    public init(event: HookEvent, missed: UInt64 = 0) {
        self.event = event
        self.missed = missed
    }
}
