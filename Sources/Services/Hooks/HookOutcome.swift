/// The result of one message.
enum HookOutcome: Equatable, Sendable {
    case delivered
    /// The receiver will not take this one, however often it is sent.
    case refused
    /// It may take it later.
    case failed

    /// By the status of the answer. A redirect is refused: the message is for the address that the owner gave, and for no
    /// other.
    init(status: Int) {
        switch status {
        case 200...299: self = .delivered
        // Request timeout, too early, too many requests: the request is not what is wrong.
        case 408, 425, 429: self = .failed
        case 300...499: self = .refused
        default: self = .failed
        }
    }
}
