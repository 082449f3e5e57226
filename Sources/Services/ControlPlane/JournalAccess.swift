public import Systemd

/// How control reads the journal; a test brings its own.
public struct JournalAccess: Sendable {
    public var read: @Sendable (JournalQuery) async throws -> [JournalEntry]
    /// What comes after now; ends when the reader does.
    public var follow: @Sendable (JournalQuery) -> AsyncThrowingStream<JournalEntry, any Error>

    public init(
        read: @escaping @Sendable (JournalQuery) async throws -> [JournalEntry],
        follow: @escaping @Sendable (JournalQuery) -> AsyncThrowingStream<JournalEntry, any Error>
    ) {
        self.read = read
        self.follow = follow
    }

    /// This machine's.
    public static let system = JournalAccess(
        read: { try await JournalReader.read($0) }, follow: { JournalReader.follow($0) })
}
