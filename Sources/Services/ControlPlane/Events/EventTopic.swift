/// What events are about; a client chooses some of them.
enum EventTopic: String, CaseIterable, Sendable {
    case camera
    case config
    case health
    case relay
    case kas
    case key
    case system
}
