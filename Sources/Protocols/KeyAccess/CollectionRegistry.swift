internal import Wire

/// The headers that publishers vouched for: SHA-256 of the header → stream (docs/design/0009).
///
/// Bounded in all and per stream. A stream that exceeds its share loses its own oldest entry. When all is full, a new
/// stream takes the oldest entry of the one that holds more than its share.
public struct CollectionRegistry: Sendable {
    public struct Entry: Codable, Equatable, Sendable {
        /// Lower-case hexadecimal.
        public var headerSha256: String
        public var stream: String
        /// Unix seconds.
        public var notAfter: Int64
        /// `Identity.text` of the publisher.
        public var publisher: String
        /// The KAS key that the header was made for, as its proof showed.
        public var kid: String
        /// Unix seconds of the first registration.
        public var registeredAt: Int64
        /// Counts the registrations of the stream, from 1 on; given by the registry.
        public var sequence: Int64
        /// Of the publisher's device, verified.
        public var signature: PublisherSignature?

        public init(
            headerSha256: String, stream: String, notAfter: Int64, publisher: String, kid: String,
            registeredAt: Int64, sequence: Int64 = 0, signature: PublisherSignature? = nil
        ) {
            self.signature = signature
            self.headerSha256 = headerSha256
            self.stream = stream
            self.notAfter = notAfter
            self.publisher = publisher
            self.kid = kid
            self.registeredAt = registeredAt
            self.sequence = sequence
        }
    }

    public enum Fault: Error, Equatable, Sendable {
        case invalidHash
        case invalidStream
        /// `notAfter` has passed already.
        case expired
        /// The header is registered for another stream or by another publisher.
        case takenByAnother
        /// No room, and the stream has no entry of its own to give up.
        case full
    }

    public let capacity: Int
    public let capacityPerStream: Int
    /// Entries live no longer than this, in seconds, whatever `notAfter` says.
    public let maximumLifetime: Int64

    private var entries: [String: Entry] = [:]
    /// Hashes per stream, oldest first.
    private var byStream: [String: [String]] = [:]
    /// No entry ends before: a search for what has expired costs as much as there are entries.
    private var earliestEnd = Int64.max

    public init(capacity: Int = 65_536, capacityPerStream: Int = 4096, maximumLifetime: Int64 = 7 * 86_400) {
        precondition(capacity > 0 && capacityPerStream > 0 && maximumLifetime > 0)
        self.capacity = capacity
        self.capacityPerStream = capacityPerStream
        self.maximumLifetime = maximumLifetime
    }

    public var count: Int { entries.count }

    /// Every entry that lives, for a file.
    public func snapshot(now: Int64) -> [Entry] {
        byStream.keys.sorted().flatMap { byStream[$0] ?? [] }.compactMap { entries[$0] }.filter { $0.notAfter >= now }
    }

    /// Takes or renews one registration, and returns it as it was taken. A renewal keeps its place in the order.
    ///
    /// - Parameter entry: of somebody who proved that the header is his; with a sequence only when it comes from a file.
    @discardableResult
    public mutating func register(_ entry: Entry, now: Int64) throws(Fault) -> Entry {
        // One spelling per hash.
        guard Hexadecimal.isLower(entry.headerSha256, count: 64) else { throw .invalidHash }
        guard StreamPattern.isValidName(entry.stream) else { throw .invalidStream }
        guard entry.notAfter > now else { throw .expired }
        var entry = entry
        entry.notAfter = min(entry.notAfter, now.saturatingAdd(maximumLifetime))
        if let known = entries[entry.headerSha256], known.notAfter >= now {
            guard known.stream == entry.stream, known.publisher.utf8.elementsEqual(entry.publisher.utf8) else {
                throw .takenByAnother
            }
            entry.sequence = known.sequence
            entry.registeredAt = known.registeredAt
            // Who signed a header has signed it for good; a renewal without cannot take that away.
            entry.signature = entry.signature ?? known.signature
            entries[entry.headerSha256] = entry
            earliestEnd = min(earliestEnd, entry.notAfter)
            return entry
        }
        remove(entry.headerSha256)
        if byStream[entry.stream, default: []].count >= capacityPerStream || entries.count >= capacity {
            purge(now: now)
        }
        if byStream[entry.stream, default: []].count >= capacityPerStream || entries.count >= capacity {
            guard let oldest = byStream[entry.stream]?.first ?? oldestOfTheGreediest() else { throw .full }
            remove(oldest)
        }
        if entry.sequence <= 0 { entry.sequence = newest(of: entry.stream).saturatingAdd(1) }
        entries[entry.headerSha256] = entry
        earliestEnd = min(earliestEnd, entry.notAfter)
        byStream[entry.stream, default: []].append(entry.headerSha256)
        return entry
    }

    /// A new stream must not be kept out for good by those that were there first: it gets the oldest entry of the one that
    /// holds the most, when that is more than its share; a few are left to each, those in use.
    private func oldestOfTheGreediest() -> String? {
        let share = max(capacity / (byStream.count + 1), min(16, capacityPerStream / 2))
        return byStream.values.max { $0.count < $1.count }.flatMap { $0.count > share ? $0.first : nil }
    }

    /// How many headers were registered for the stream after this one.
    public func newerRegistrations(than entry: Entry) -> Int {
        Int(clamping: max(0, newest(of: entry.stream).saturatingSubtract(entry.sequence)))
    }

    /// The sequence of the stream's latest registration; 0 when there is none.
    private func newest(of stream: String) -> Int64 {
        byStream[stream]?.last.flatMap { entries[$0]?.sequence } ?? 0
    }

    /// - Parameter headerSha256: lower-case hexadecimal.
    public func entry(forHeader headerSha256: String, now: Int64) -> Entry? {
        guard let entry = entries[headerSha256], entry.notAfter >= now else { return nil }
        return entry
    }

    /// Drops what has expired.
    public mutating func purge(now: Int64) {
        guard earliestEnd < now else { return }
        entries = entries.filter { $0.value.notAfter >= now }
        byStream = byStream.mapValues { $0.filter { entries[$0] != nil } }.filter { !$0.value.isEmpty }
        earliestEnd = entries.values.lazy.map(\.notAfter).min() ?? .max
    }

    private mutating func remove(_ hash: String) {
        guard let entry = entries.removeValue(forKey: hash) else { return }
        // Nearly always the first.
        if let index = byStream[entry.stream]?.firstIndex(of: hash) { byStream[entry.stream]?.remove(at: index) }
        if byStream[entry.stream]?.isEmpty == true { byStream[entry.stream] = nil }
    }
}
