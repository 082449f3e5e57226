/// What a commit survives.
public enum Durability: Sendable {
    /// A power cut: every commit is flushed to the disk. For what a person or a program configured.
    case configuration
    /// The death of the process; a power cut may cost the last commits, never the consistency. For measurements, which
    /// come every few seconds and would wear out an SD card.
    case history

    var pragma: String {
        switch self {
        case .configuration: "PRAGMA synchronous = FULL"
        case .history: "PRAGMA synchronous = NORMAL"
        }
    }
}
