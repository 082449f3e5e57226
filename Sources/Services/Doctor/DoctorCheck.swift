internal import Platform

/// One question about the box. It looks; it changes nothing.
public struct DoctorCheck: Sendable {
    /// One word: `storage`.
    public let name: String
    let examine: @Sendable (CheckContext) async -> Finding

    /// - Parameter examine: never blocks its thread; may take as long as it likes, since `CheckRunner` gives up
    ///   waiting.
    public init(_ name: String, examine: @escaping @Sendable (CheckContext) async -> Finding) {
        self.name = name
        self.examine = examine
    }

    /// A check that only reads files: on a thread of its own, because a file may hang.
    init(reading name: String, _ read: @escaping @Sendable (Environment) -> Finding) {
        self.init(name) { context in
            let environment = context.environment
            return await OwnThread.value { read(environment) }
                ?? .unknown("no thread can be made", hint: "Free some memory, then run it again")
        }
    }

    /// All of them, in the order in which they are reported: what the box is for comes first.
    public static let all: [DoctorCheck] =
        configurationChecks + daemonChecks + deviceChecks + networkCameraChecks + networkChecks + trustChecks
        + recordingChecks + storageChecks + boardChecks
}
