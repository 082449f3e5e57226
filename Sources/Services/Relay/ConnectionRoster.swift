/// Who publishes and who plays, from when on, and what is known of the reason when it ends.
struct ConnectionRoster: Sendable {
    struct Entry: Equatable, Sendable {
        let role: RelayConnectionsDocument.Role
        /// "app/name".
        let stream: String
        /// Nanoseconds of the monotonic clock.
        let since: UInt64
        /// Why the relay ends it; nil: it went by itself.
        var reason: String?
    }

    private(set) var entries: [ConnectionID: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    mutating func joined(
        _ connection: ConnectionID, as role: RelayConnectionsDocument.Role, stream: String, at now: UInt64
    ) {
        entries[connection] = Entry(role: role, stream: stream, since: now)
    }

    /// The relay is about to end it. The first reason stands.
    mutating func willEnd(_ connection: ConnectionID, because reason: String) {
        guard let entry = entries[connection], entry.reason == nil else { return }
        entries[connection]?.reason = reason
    }

    /// What it was; nil when it neither published nor played, or is reported again.
    mutating func left(_ connection: ConnectionID) -> Entry? {
        entries.removeValue(forKey: connection)
    }

    func publishers(of stream: String) -> [ConnectionID] {
        entries.filter { $0.value.role == .publisher && $0.value.stream == stream }.keys.sorted()
    }
}
