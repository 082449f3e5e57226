internal import ErrorCatalog

/// Something that happened on the box, as far as a hook tells it. Holds no secret.
struct HookEvent: Equatable, Sendable {
    /// Rises with each; 0: it is not stored, and whoever comes back cannot ask for it again.
    var id: Int64
    /// Microseconds since 1970.
    var time: Int64
    /// `camera`, `motion`, `config`, `health`, `relay`, `kas`, `key`, `system`; `test` when somebody asked for one.
    var topic: String
    /// The camera, relay or check that it is about.
    var object: String?
    var code: ErrorCode?
    var text: String
}

/// What is sent in one request.
struct HookMessage: Equatable, Sendable {
    var event: HookEvent
    /// Events before this one that were not told by themselves, since the last message that arrived.
    var missed: UInt64 = 0
}
