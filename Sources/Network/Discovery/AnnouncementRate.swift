/// How many announcements are looked at: so many a second from one sender, and so many in all, and for so long. A
/// device that is broken, or somebody who wants to keep the box busy, gets no more.
struct AnnouncementRate {
    /// Messages, and nanoseconds of reading them, in each second.
    struct Share: Equatable {
        var messages: Double
        var nanoseconds: Double
    }

    static let perSource = Share(messages: 10, nanoseconds: 50_000_000)
    static let total = Share(messages: 20, nanoseconds: 100_000_000)
    /// Senders that are counted separately; when they are more, all of them begin again.
    static let sourceLimit = 256

    private struct Account {
        let share: Share
        var left: Share
        var filled: UInt64

        /// Two seconds' worth may come at once: a Hello is repeated.
        init(_ share: Share, at now: UInt64) {
            self.share = share
            left = Share(messages: 2 * share.messages, nanoseconds: 2 * share.nanoseconds)
            filled = now
        }

        mutating func take(at now: UInt64) -> Bool {
            let seconds = Double(now &- min(filled, now)) / 1e9
            left.messages = min(left.messages + seconds * share.messages, 2 * share.messages)
            left.nanoseconds = min(left.nanoseconds + seconds * share.nanoseconds, 2 * share.nanoseconds)
            filled = now
            guard left.messages >= 1, left.nanoseconds > 0 else { return false }
            left.messages -= 1
            return true
        }

        /// Known afterwards only: one message may overdraw it.
        mutating func spent(_ nanoseconds: UInt64) {
            left.nanoseconds -= Double(nanoseconds)
        }
    }

    private var all: Account
    private var sources: [String: Account] = [:]

    init(at now: UInt64) {
        all = Account(Self.total, at: now)
    }

    mutating func allows(_ source: String, at now: UInt64) -> Bool {
        if sources[source] == nil, sources.count >= Self.sourceLimit { sources = [:] }
        guard sources[source, default: Account(Self.perSource, at: now)].take(at: now) else { return false }
        return all.take(at: now)
    }

    /// How long it took to read what was allowed.
    mutating func spent(_ nanoseconds: UInt64, by source: String) {
        sources[source]?.spent(nanoseconds)
        all.spent(nanoseconds)
    }
}

/// Distinguishes the repeats of a message, of which UDP gets several, from new ones.
struct RecentMessages {
    static let limit = 256

    private var order: [String] = []
    private var known: Set<String> = []

    /// True for the first of its kind; always for a message without an identifier.
    mutating func isNew(messageID: String, source: String) -> Bool {
        guard !messageID.isEmpty else { return true }
        let key = source + " " + messageID
        guard known.insert(key).inserted else { return false }
        order.append(key)
        if order.count > Self.limit { known.remove(order.removeFirst()) }
        return true
    }
}
