internal import FoundationEssentials
internal import KeyAccess
internal import Synchronization

/// The registered headers, kept over a restart in a journal of one JSON line per registration.
///
/// An append survives the death of the process. It isn't flushed to the disk: after a power cut the publisher starts
/// anew as well, with collections that it registers anew. The journal is rewritten when most of it is stale.
final class CollectionStore: Sendable {
    private struct State {
        var registry: CollectionRegistry
        var journalLines: Int
    }

    static let journalName = "collections.jsonl"
    /// 65 536 registrations with the longest names fit; the rewriting keeps the journal far below.
    private static let journalLimit = 64 << 20

    private let directory: StateDirectory
    private let state: Mutex<State>

    /// Lines that can't be read are skipped: the last one may have been cut off by a crash.
    init(directory: StateDirectory, now: Int64) throws {
        self.directory = directory
        var registry = CollectionRegistry()
        var lines = 0
        for line in try directory.read(Self.journalName, limit: Self.journalLimit)?.split(separator: UInt8(ascii: "\n"))
            ?? []
        {
            lines += 1
            guard line.count <= 4096,
                let entry = try? JSONCoding.decode(CollectionRegistry.Entry.self, from: Array(line), depth: 4)
            else { continue }
            _ = try? registry.register(
                CollectionRegistration(
                    stream: entry.stream, headerSha256: entry.headerSha256, notAfter: entry.notAfter),
                publisher: entry.publisher, now: now)
        }
        state = Mutex(State(registry: registry, journalLines: lines))
        try compactIfNeeded(now: now)
    }

    func entry(forHeader hash: String, now: Int64) -> CollectionRegistry.Entry? {
        state.withLock { $0.registry.entry(forHeader: hash, now: now) }
    }

    var count: Int { state.withLock { $0.registry.count } }

    /// - Throws: `CollectionRegistry.Fault`, or `StateDirectoryError` when the journal can't be written.
    func register(
        _ registration: CollectionRegistration, publisher: String, now: Int64
    ) throws -> CollectionRegistry.Entry {
        try state.withLock { state in
            let entry = try state.registry.register(registration, publisher: publisher, now: now)
            try directory.append(Self.journalName, try JSONCoding.encode(entry) + [UInt8(ascii: "\n")])
            state.journalLines += 1
            return entry
        }
    }

    /// Forgets what has expired, and rewrites the journal when it is mostly stale.
    func compactIfNeeded(now: Int64) throws {
        try state.withLock { state in
            state.registry.purge(now: now)
            guard state.journalLines > 2 * state.registry.count + 1024 else { return }
            let entries = state.registry.snapshot(now: now)
            var bytes: [UInt8] = []
            for entry in entries { bytes += try JSONCoding.encode(entry) + [UInt8(ascii: "\n")] }
            try directory.write(Self.journalName, bytes)
            state.journalLines = entries.count
        }
    }
}
