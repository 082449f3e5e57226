internal import ControlAPI
internal import Settings

/// What is sent in one request.
struct HookMessage: Equatable, Sendable {
    /// As hooks report it (`reportedByHooks`).
    var event: EventDocument
    /// Events before this one that were not reported one by one, since the last message that arrived.
    var missed: UInt64 = 0
}

extension EventDocument {
    /// What a camera saw has a topic of its own (`HookTopic`), and nothing besides its text.
    var reportedByHooks: EventDocument {
        guard sensorEvent != nil else { return self }
        var event = self
        event.topic = HookTopic.motion.rawValue
        event.sensorEvent = nil
        return event
    }
}
