internal import Platform

/// One question about the box. It looks; it changes nothing.
public struct DoctorCheck: Sendable {
    /// One word: `storage`.
    public let name: String
    let examine: @Sendable (Knowledge) async -> Finding

    /// - Parameter examine: never blocks its thread; may take as long as it likes, since `Examination` gives up waiting.
    public init(_ name: String, examine: @escaping @Sendable (Knowledge) async -> Finding) {
        self.name = name
        self.examine = examine
    }

    /// A check that only reads files: on a thread of its own, because a file may hang.
    init(reading name: String, _ read: @escaping @Sendable (Surroundings) -> Finding) {
        self.init(name) { knowledge in
            let surroundings = knowledge.surroundings
            return await OwnThread.value { read(surroundings) }
                ?? .unknown("no thread can be made", next: "Free some memory, then run it again")
        }
    }

    /// All of them, in the order in which they are told: what the box is for comes first.
    public static let all: [DoctorCheck] =
        configurationChecks + daemonChecks + deviceChecks + networkCameraChecks + networkChecks + trustChecks
        + storageChecks + boardChecks
}
