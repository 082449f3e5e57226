internal import FoundationEssentials
internal import KeyAccess
internal import Synchronization

/// The registered headers, kept over a restart in a journal of one JSON line per registration.
///
/// An append survives the death of the process. It isn't flushed to the disk: after a power cut the publisher starts
/// again as well, with collections that it registers again. The journal is rewritten when most of it is stale.
final class CollectionStore: Sendable {
    private struct State {
        var registry: CollectionRegistry
        var journalLines: Int
        var journalBytes: Int
    }

    static let journalName = "collections.jsonl"
    /// Rewritten beyond this many bytes when that makes it smaller.
    private static let journalLimit = 32 << 20
    private static let maxLineLength = 4096
    /// Lines that are decoded together: one decoder for each would take most of the time of a start.
    private static let batch = 256

    private let directory: StateDirectory
    private let state: Mutex<State>

    /// Lines that can't be read are skipped: the last one may have been cut off by a crash. So are those of versions
    /// that asked for no proof: they name no key.
    init(directory: StateDirectory, now: Int64) throws {
        self.directory = directory
        var registry = CollectionRegistry()
        var (lines, bytes) = (0, 0)
        var waiting: [ArraySlice<UInt8>] = []
        func take() {
            for entry in Self.entries(waiting) {
                _ = try? registry.register(entry, now: now)
            }
            waiting.removeAll(keepingCapacity: true)
        }
        try directory.readLines(Self.journalName, longest: Self.maxLineLength) { line in
            lines += 1
            bytes += line.count + 1
            waiting.append(line)
            if waiting.count == Self.batch { take() }
        }
        take()
        state = Mutex(State(registry: registry, journalLines: lines, journalBytes: bytes))
        try compactIfNeeded(now: now)
    }

    private static func entries(_ lines: [ArraySlice<UInt8>]) -> [CollectionRegistry.Entry] {
        let list = [UInt8(ascii: "[")] + lines.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
        if let entries = try? JSONCoding.decode([CollectionRegistry.Entry].self, from: list, depth: 5) {
            return entries
        }
        // One of them was cut off.
        return lines.compactMap {
            try? JSONCoding.decode(CollectionRegistry.Entry.self, from: Array($0), depth: 4)
        }
    }

    func entry(forHeader hash: String, now: Int64) -> CollectionRegistry.Entry? {
        state.withLock { $0.registry.entry(forHeader: hash, now: now) }
    }

    /// The entry, and how many headers were registered for its stream after it.
    func entryAndNewer(
        forHeader hash: String, now: Int64
    ) -> (entry: CollectionRegistry.Entry, newer: Int)? {
        state.withLock { state in
            state.registry.entry(forHeader: hash, now: now).map { ($0, state.registry.newerRegistrations(than: $0)) }
        }
    }

    var count: Int { state.withLock { $0.registry.count } }

    /// - Throws: `CollectionRegistry.Fault`, or `StateDirectoryError` when the journal can't be written.
    func register(_ entry: CollectionRegistry.Entry, now: Int64) throws -> CollectionRegistry.Entry {
        try state.withLock { state in
            let entry = try state.registry.register(entry, now: now)
            let line = try JSONCoding.encode(entry) + [UInt8(ascii: "\n")]
            try directory.append(Self.journalName, line)
            state.journalLines += 1
            state.journalBytes += line.count
            return entry
        }
    }

    /// Forgets what has expired, and rewrites the journal when it is mostly stale.
    func compactIfNeeded(now: Int64) throws {
        try state.withLock { state in
            state.registry.purge(now: now)
            let isMostlyStale = state.journalLines > 2 * state.registry.count + 1024
            let isLong = state.journalBytes > Self.journalLimit && state.journalLines > state.registry.count * 5 / 4
            guard isMostlyStale || isLong else { return }
            let entries = state.registry.snapshot(now: now)
            var bytes: [UInt8] = []
            for entry in entries { bytes += try JSONCoding.encode(entry) + [UInt8(ascii: "\n")] }
            try directory.write(Self.journalName, bytes)
            state.journalLines = entries.count
            state.journalBytes = bytes.count
        }
    }
}
