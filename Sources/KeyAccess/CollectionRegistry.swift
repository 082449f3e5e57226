/// The headers that publishers vouched for: SHA-256 of the header → stream (requirement S7 of the wire profile).
///
/// Bounded in all and per stream. A stream that exceeds its share loses its own oldest entry, never another's.
public struct CollectionRegistry: Sendable {
    public struct Entry: Codable, Equatable, Sendable {
        /// Lower-case hexadecimal.
        public var headerSha256: String
        public var stream: String
        /// Unix seconds.
        public var notAfter: Int64
        /// `sub` of the publisher.
        public var publisher: String

        public init(headerSha256: String, stream: String, notAfter: Int64, publisher: String) {
            self.headerSha256 = headerSha256
            self.stream = stream
            self.notAfter = notAfter
            self.publisher = publisher
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

    /// Takes or renews one registration, and returns it as it was taken.
    @discardableResult
    public mutating func register(
        _ registration: CollectionRegistration, publisher: String, now: Int64
    ) throws(Fault) -> Entry {
        guard Self.isHash(registration.headerSha256) else { throw .invalidHash }
        guard StreamPattern.isValidName(registration.stream) else { throw .invalidStream }
        guard registration.notAfter > now else { throw .expired }
        let entry = Entry(
            headerSha256: registration.headerSha256, stream: registration.stream,
            notAfter: min(registration.notAfter, now.saturatingAdd(maximumLifetime)), publisher: publisher)
        if let known = entries[entry.headerSha256], known.notAfter >= now {
            guard known.stream == entry.stream, known.publisher == publisher else { throw .takenByAnother }
            entries[entry.headerSha256] = entry
            return entry
        }
        remove(entry.headerSha256)
        if byStream[entry.stream, default: []].count >= capacityPerStream || entries.count >= capacity {
            purge(now: now)
        }
        if byStream[entry.stream, default: []].count >= capacityPerStream || entries.count >= capacity {
            guard let oldest = byStream[entry.stream]?.first else { throw .full }
            remove(oldest)
        }
        entries[entry.headerSha256] = entry
        byStream[entry.stream, default: []].append(entry.headerSha256)
        return entry
    }

    /// - Parameter headerSha256: lower-case hexadecimal.
    public func entry(forHeader headerSha256: String, now: Int64) -> Entry? {
        guard let entry = entries[headerSha256], entry.notAfter >= now else { return nil }
        return entry
    }

    /// Drops what has expired.
    public mutating func purge(now: Int64) {
        entries = entries.filter { $0.value.notAfter >= now }
        byStream = byStream.mapValues { $0.filter { entries[$0] != nil } }.filter { !$0.value.isEmpty }
    }

    private mutating func remove(_ hash: String) {
        guard let entry = entries.removeValue(forKey: hash) else { return }
        byStream[entry.stream]?.removeAll { $0 == hash }
        if byStream[entry.stream]?.isEmpty == true { byStream[entry.stream] = nil }
    }

    /// 64 lower-case hexadecimal digits: one spelling per hash.
    private static func isHash(_ text: String) -> Bool {
        text.utf8.count == 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
