internal import Glibc
internal import Platform
internal import Synchronization

/// Reads the system's journal. The blocking work has a thread of its own; the caller needs the group systemd-journal.
public enum JournalReader {
    /// Bytes of text that `read` returns at most.
    static let textLimit = 8 * 1024 * 1024
    /// Followers at once: each has a thread.
    static let followerLimit = 32
    private static let followers = Mutex(0)

    /// The entries of `query`, oldest first.
    ///
    /// - Throws: `.invalid` for a bad query, `.denied` without the right to read, `.unavailable` without a journal.
    public static func read(_ query: JournalQuery) async throws(SystemdError) -> [JournalEntry] {
        try query.check()
        return try await OwnThread.run { () throws(SystemdError) in
            let journal = try JournalHandle()
            try journal.checkReadable()
            return try read(query, from: journal)
        }
    }

    /// The entries of `query`, then each new one as it is written. When the consumer is slow, reading waits for it:
    /// nothing is lost, and few entries are in memory. Ends when the consumer does.
    public static func follow(_ query: JournalQuery) -> AsyncThrowingStream<JournalEntry, any Error> {
        follow(query, directory: nil)
    }

    /// How many follow now.
    static var followerCount: Int { followers.withLock { $0 } }

    // MARK: on the thread

    static func read(_ query: JournalQuery, from journal: borrowing JournalHandle) throws(SystemdError)
        -> [JournalEntry]
    {
        try journal.match(query)
        guard query.last > 0 else { return [] }
        var entries: [JournalEntry] = []
        var size = 0
        var position = try journal.seek(query)
        var remaining = query.last
        while remaining > 0 {
            if position == .before {
                guard try journal.next() else { break }
            }
            position = .before
            remaining -= 1
            guard let entry = matchingEntry(journal, query) else { continue }
            size += entry.size
            // What lies after a cursor is read on from the last entry; otherwise the newest are the ones to keep.
            if size > textLimit, query.afterCursor != nil { break }
            entries.append(entry)
            if size > textLimit {
                let surplus = entries.prefix { entry in
                    guard size > textLimit else { return false }
                    size -= entry.size
                    return true
                }
                entries.removeFirst(surplus.count)
            }
        }
        return entries
    }

    static func follow(_ query: JournalQuery, directory: String?) -> AsyncThrowingStream<JournalEntry, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingOldest(64)) { continuation in
            // A query that cannot be answered says so even while no other follower is let in.
            do throws(SystemdError) { try query.check() } catch { return continuation.finish(throwing: error) }
            let isOver = EndMark()
            continuation.onTermination = { _ in isOver.set() }
            let isAllowed = followers.withLock { count in
                guard count < followerLimit else { return false }
                count += 1
                return true
            }
            guard isAllowed else {
                return continuation.finish(
                    throwing: SystemdError.unavailable("\(followerLimit) follow the journal already"))
            }
            let started = OwnThread.start {
                defer { followers.withLock { $0 -= 1 } }
                do throws(SystemdError) {
                    let journal = try JournalHandle(directory: directory)
                    if directory == nil { try journal.checkReadable() }
                    try follow(query, journal, continuation, until: isOver)
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            if !started {
                followers.withLock { $0 -= 1 }
                continuation.finish(throwing: SystemdError.unavailable("no thread can be made"))
            }
        }
    }

    private static func follow(
        _ query: JournalQuery, _ journal: borrowing JournalHandle,
        _ continuation: AsyncThrowingStream<JournalEntry, any Error>.Continuation, until isOver: EndMark
    ) throws(SystemdError) {
        try journal.match(query)
        if try journal.seek(query) == .at, let entry = matchingEntry(journal, query) {
            yield(entry, to: continuation, until: isOver)
        }
        while !isOver.isSet {
            guard try journal.next() else {
                // Short, because nothing wakes it when the consumer goes away.
                try journal.wait(milliseconds: 500)
                continue
            }
            if let entry = matchingEntry(journal, query) { yield(entry, to: continuation, until: isOver) }
        }
    }

    private static func matchingEntry(_ journal: borrowing JournalHandle, _ query: JournalQuery) -> JournalEntry? {
        guard let entry = journal.entry(), entry.realtimeMicroseconds >= query.sinceMicroseconds ?? 0 else {
            return nil
        }
        return entry
    }

    /// Waits while the buffer is full.
    private static func yield(
        _ entry: JournalEntry, to continuation: AsyncThrowingStream<JournalEntry, any Error>.Continuation,
        until isOver: EndMark
    ) {
        while !isOver.isSet, case .dropped = continuation.yield(entry) { usleep(20_000) }
    }
}

/// Set once, from any thread.
private final class EndMark: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

extension JournalEntry {
    fileprivate var size: Int {
        fields.reduce(message.utf8.count + cursor.utf8.count + 64) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
