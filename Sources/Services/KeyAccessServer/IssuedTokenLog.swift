internal import FoundationEssentials
internal import KeyAccess

/// One JSON line for each token that this KAS issued, so that its owner can see and revoke them; never the token.
///
/// Bounded: entries go when the token can't even be renewed any more, and the oldest when there are too many, first
/// those of a subject that has more than its share. Narrowed tokens, which any holder can have made in any number, push out
/// none but narrowed ones; what they were made from stays, and is what an owner revokes.
public struct IssuedTokenLog: Sendable {
    public struct Entry: Codable, Equatable, Sendable {
        /// `jti`.
        public var id: String
        public var subject: String
        public var scopes: [String]
        /// The first 16.
        public var streams: [String]
        /// Unix seconds.
        public var issuedAt: Int64
        public var expiresAt: Int64
        public var isRenewable: Bool
        public var isNarrowed: Bool
        /// `jti` of the first token of its line; nil: itself.
        public var family: String?
        /// `jti` of the token that it was made from.
        public var parent: String?
        /// The issuer key that signed it.
        public var kid: String?

        init(_ claims: AccessClaims, kid: String?) {
            self.kid = kid
            parent = claims.parentID
            id = claims.tokenID ?? ""
            subject = claims.subject ?? ""
            scopes = Array(claims.scopes.prefix(16))
            streams = Array(claims.streams.prefix(16))
            issuedAt = claims.issuedAt?.seconds ?? 0
            expiresAt = claims.expiresAt?.seconds ?? 0
            isRenewable = claims.isRenewable
            isNarrowed = claims.isNarrowed
            family = claims.familyID
        }

        /// As much of the claims as a revocation looks at.
        var claims: AccessClaims {
            var claims = AccessClaims(
                issuer: KeyAccessServerConfiguration.localIssuer, subject: subject, audience: [],
                expiresAt: NumericDate(seconds: expiresAt), issuedAt: NumericDate(seconds: issuedAt), scopes: scopes,
                tokenID: id)
            claims.familyID = family
            claims.parentID = parent
            return claims
        }
    }

    static let name = "tokens.jsonl"
    static let limit = 4096
    static let limitOfSubject = 512
    /// Of narrowed ones, in addition to the others.
    static let limitOfNarrowed = 4096
    static let limitOfNarrowedOfSubject = 256
    static let compactionInterval = 256
    private static let fileLimit = 64 << 20
    private static let keptSeconds: Int64 = 31 * 86_400

    let directory: StateDirectory

    /// Those that matter, oldest first. Lines that can't be read are skipped: the last one may have been cut off.
    func entries(now: Int64) throws -> [Entry] {
        let decoder = JSONDecoder()
        let lines = try directory.read(Self.name, limit: Self.fileLimit)?.split(separator: UInt8(ascii: "\n")) ?? []
        let known = lines.compactMap { line -> Entry? in
            guard line.count <= 16_384 else { return nil }
            return try? decoder.decode(Entry.self, from: Data(line))
        }.filter { now - $0.expiresAt <= ($0.isRenewable ? AccessClaims.renewalGrace : Self.keptSeconds) }
        var own = Share(limit: Self.limit, limitOfSubject: Self.limitOfSubject)
        var narrowed = Share(limit: Self.limitOfNarrowed, limitOfSubject: Self.limitOfNarrowedOfSubject)
        var kept: [Entry] = []
        for entry in known.reversed() {
            let isTaken = entry.isNarrowed ? narrowed.takes(entry.subject) : own.takes(entry.subject)
            if isTaken { kept.append(entry) }
        }
        return kept.reversed()
    }

    private struct Share {
        let limit: Int
        let limitOfSubject: Int
        private var count = 0
        private var counts: [String: Int] = [:]

        init(limit: Int, limitOfSubject: Int) {
            self.limit = limit
            self.limitOfSubject = limitOfSubject
        }

        mutating func takes(_ subject: String) -> Bool {
            let ofSubject = counts[subject, default: 0]
            guard count < limit, ofSubject < limitOfSubject else { return false }
            count += 1
            counts[subject] = ofSubject + 1
            return true
        }
    }

    func append(_ entry: Entry) throws {
        try directory.append(Self.name, try JSONCoding.encode(entry) + [UInt8(ascii: "\n")])
    }

    func compact(now: Int64) throws {
        var bytes: [UInt8] = []
        for entry in try entries(now: now) { bytes += try JSONCoding.encode(entry) + [UInt8(ascii: "\n")] }
        try directory.write(Self.name, bytes)
    }
}
