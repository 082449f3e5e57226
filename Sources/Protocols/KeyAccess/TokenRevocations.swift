/// The tokens and issuer keys that are not accepted any more: what `revocations.json` of a KAS holds.
///
/// An entry outlives every token that it could concern, and is forgotten then.
public struct TokenRevocations: Codable, Equatable, Sendable {
    /// What is refused.
    public enum Target: Codable, Hashable, Sendable {
        /// A token by its `jti`, with all that was renewed or narrowed from it.
        case token(id: String)
        /// Every token of a subject that was issued at this Unix second or before.
        case subject(issuer: String, name: String, issuedUntil: Int64)
        /// Every token that a key signed.
        case issuerKey(kid: String)
    }

    public struct Entry: Codable, Equatable, Sendable {
        public var target: Target
        /// Unix seconds.
        public var revokedAt: Int64

        public init(target: Target, revokedAt: Int64) {
            self.target = target
            self.revokedAt = revokedAt
        }
    }

    public enum Fault: Error, Equatable, Sendable {
        /// There are `limit` entries that still matter.
        case full(limit: Int)
        /// Empty, or longer than 256 bytes.
        case invalidName
    }

    public static let limit = 4096
    /// A token lives for 366 days at most and can be renewed for a year after that.
    public static let keptSeconds: Int64 = 2 * 366 * 86_400

    public private(set) var entries: [Entry]
    private var identifiers: Set<[UInt8]> = []
    private var keys: Set<[UInt8]> = []
    private var subjects: [[UInt8]: Int64] = [:]

    public init() {
        entries = []
    }

    private enum CodingKeys: String, CodingKey {
        case entries = "revocations"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entries = try container.decode([Entry].self, forKey: .entries)
        guard entries.count <= Self.limit else {
            throw DecodingError.dataCorruptedError(
                forKey: .entries, in: container, debugDescription: "more than \(Self.limit) revocations")
        }
        for entry in entries { index(entry.target) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entries, forKey: .entries)
    }

    public mutating func add(_ target: Target, now: Int64) throws(Fault) {
        let name =
            switch target {
            case .token(let id): id
            case .subject(_, let name, _): name
            case .issuerKey(let kid): kid
            }
        guard (1...256).contains(name.utf8.count) else { throw .invalidName }
        prune(now: now)
        // A later one of the same subject says all that the earlier did.
        entries.removeAll { Self.identity($0.target) == Self.identity(target) }
        guard entries.count < Self.limit else { throw .full(limit: Self.limit) }
        entries.append(Entry(target: target, revokedAt: now))
        index(target)
    }

    /// Forgets what can concern no token any more.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    public mutating func prune(now: Int64) -> Bool {
        let kept = entries.filter { $0.revokedAt.saturatingAdd(Self.keptSeconds) >= now }
        guard kept.count != entries.count else { return false }
        self = TokenRevocations()
        entries = kept
        for entry in kept { index(entry.target) }
        return true
    }

    /// Whether a token is refused, by itself or for what it was made from. A token that does not say when it was issued
    /// counts as old.
    ///
    /// - Parameter kid: of the key that verified it.
    public func refuses(_ claims: AccessClaims, kid: String?) -> Bool {
        if entries.isEmpty { return false }
        if let kid, keys.contains(Array(kid.utf8)) { return true }
        for id in [claims.tokenID, claims.parentID, claims.familyID] {
            if let id, identifiers.contains(Array(id.utf8)) { return true }
        }
        let name = Self.key(issuer: claims.issuer ?? "", subject: claims.subject ?? "")
        guard let until = subjects[name] else { return false }
        return (claims.issuedAt?.seconds ?? .min) <= until
    }

    /// Whether a signing key is refused.
    public func refuses(kid: String) -> Bool { keys.contains(Array(kid.utf8)) }

    /// Until when the tokens of a subject are refused, as Unix seconds of their issue.
    public func issuedUntil(issuer: String, subject: String) -> Int64? {
        subjects[Self.key(issuer: issuer, subject: subject)]
    }

    private mutating func index(_ target: Target) {
        switch target {
        case .token(let id): identifiers.insert(Array(id.utf8))
        case .issuerKey(let kid): keys.insert(Array(kid.utf8))
        case .subject(let issuer, let name, let until):
            let key = Self.key(issuer: issuer, subject: name)
            subjects[key] = max(subjects[key] ?? .min, until)
        }
    }

    private static func identity(_ target: Target) -> [UInt8] {
        switch target {
        case .token(let id): [0] + Array(id.utf8)
        case .issuerKey(let kid): [1] + Array(kid.utf8)
        case .subject(let issuer, let name, _): [2] + key(issuer: issuer, subject: name)
        }
    }

    /// Bytes: Swift compares texts by what they look like.
    private static func key(issuer: String, subject: String) -> [UInt8] {
        Array(issuer.utf8) + [0] + Array(subject.utf8)
    }
}
