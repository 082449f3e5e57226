/// What an operator granted and took away while the KAS runs: what its `grants.json` holds. It adds to tokens and
/// configuration; what is taken away wins over both.
public struct AccessGrants: Codable, Equatable, Sendable {
    /// Who is meant: the subject of one issuer, compared as bytes.
    public struct Holder: Codable, Equatable, Sendable {
        public var issuer: String
        public var subject: String

        public init(issuer: String, subject: String) {
            self.issuer = issuer
            self.subject = subject
        }

        func isSame(_ other: Holder) -> Bool {
            issuer.utf8.elementsEqual(other.issuer.utf8) && subject.utf8.elementsEqual(other.subject.utf8)
        }
    }

    public struct Grant: Codable, Equatable, Sendable {
        public var holder: Holder
        /// Name or pattern (`StreamPattern`).
        public var stream: String
        public var scopes: [String]
        public var attributes: [String]
        /// Unix seconds at which it ends; nil: when it is taken away.
        public var until: Int64?

        public init(
            holder: Holder, stream: String, scopes: [String] = [], attributes: [String] = [], until: Int64? = nil
        ) {
            self.holder = holder
            self.stream = stream
            self.scopes = scopes
            self.attributes = attributes
            self.until = until
        }
    }

    /// A stream that the holder does not get, whatever a token says.
    public struct Denial: Codable, Equatable, Sendable {
        public var holder: Holder
        /// Name or pattern.
        public var stream: String
    }

    /// Lets one expired token of the holder be renewed, once.
    public struct Readmission: Codable, Equatable, Sendable {
        public var holder: Holder
        /// Unix seconds.
        public var until: Int64
    }

    public enum Fault: Error, Equatable, Sendable {
        case full(limit: Int)
        /// A name is empty or too long, or a list has more than 64 entries.
        case invalid(String)
    }

    /// Of grants, denials and readmissions together.
    public static let limit = 4096

    public private(set) var grants: [Grant] = []
    public private(set) var denials: [Denial] = []
    public private(set) var readmissions: [Readmission] = []

    public init() {}

    /// Adds a grant, or replaces the one for the same holder and stream, and takes a denial of that stream back.
    public mutating func grant(_ grant: Grant, now: Int64) throws(Fault) {
        try Self.check(grant.holder, stream: grant.stream)
        guard grant.scopes.count <= 64, grant.attributes.count <= 64,
            (grant.scopes + grant.attributes).allSatisfy({ (1...512).contains($0.utf8.count) })
        else { throw .invalid("at most 64 scopes and attributes of 1…512 bytes are allowed") }
        prune(now: now)
        grants.removeAll { $0.holder.isSame(grant.holder) && $0.stream.utf8.elementsEqual(grant.stream.utf8) }
        denials.removeAll { $0.holder.isSame(grant.holder) && StreamPattern(grant.stream).matches($0.stream) }
        try checkRoom()
        grants.append(grant)
    }

    /// Takes the grants away that the stream or pattern covers, and denies it from now on. Without a stream all grants
    /// and readmissions go, and nothing is denied: the subject's tokens are to be revoked then.
    public mutating func revoke(_ holder: Holder, stream: String?, now: Int64) throws(Fault) {
        try Self.check(holder, stream: stream ?? "*")
        prune(now: now)
        guard let stream else {
            grants.removeAll { $0.holder.isSame(holder) }
            readmissions.removeAll { $0.holder.isSame(holder) }
            return
        }
        let pattern = StreamPattern(stream)
        grants.removeAll { $0.holder.isSame(holder) && pattern.matches($0.stream) }
        denials.removeAll { $0.holder.isSame(holder) && pattern.matches($0.stream) }
        try checkRoom()
        denials.append(Denial(holder: holder, stream: stream))
    }

    public mutating func readmit(_ holder: Holder, until: Int64, now: Int64) throws(Fault) {
        try Self.check(holder, stream: "*")
        prune(now: now)
        readmissions.removeAll { $0.holder.isSame(holder) }
        try checkRoom()
        readmissions.append(Readmission(holder: holder, until: until))
    }

    /// - Returns: whether there was one; it is used up.
    public mutating func takeReadmission(_ holder: Holder, now: Int64) -> Bool {
        prune(now: now)
        let count = readmissions.count
        readmissions.removeAll { $0.holder.isSame(holder) }
        return readmissions.count < count
    }

    /// Forgets what has ended.
    ///
    /// - Returns: whether there was any.
    @discardableResult
    public mutating func prune(now: Int64) -> Bool {
        let count = grants.count + readmissions.count
        grants.removeAll { $0.until.map { $0 <= now } ?? false }
        readmissions.removeAll { $0.until <= now }
        return grants.count + readmissions.count != count
    }

    /// The subject of a verified token with what was granted and taken away, each for its own streams. A narrowed token gains nothing: it is for
    /// its own stream.
    public func applied(to subject: Subject, claims: AccessClaims, now: Int64) -> Subject {
        if grants.isEmpty, denials.isEmpty { return subject }
        var subject = subject
        let holder = Holder(issuer: claims.issuer ?? "", subject: claims.subject ?? "")
        if !claims.isNarrowed {
            subject.additions = current(of: holder, now: now).map {
                Subject.Addition(streams: StreamPattern($0.stream), scopes: $0.scopes, attributes: $0.attributes)
            }
        }
        subject.deniedStreams += denials.filter { $0.holder.isSame(holder) }.map { StreamPattern($0.stream) }
        return subject
    }

    /// When the last grant ends that covers a stream and allows this scope; nil when there is none, `.max` when it does not
    /// end.
    ///
    /// - Parameter hasScope: the token has it, so that a grant need not name it.
    public func end(of stream: String, scope: String, hasScope: Bool, holder: Holder, now: Int64) -> Int64? {
        current(of: holder, now: now)
            .filter { StreamPattern($0.stream).matches(stream) && (hasScope || $0.scopes.contains(scope)) }
            .map { $0.until ?? .max }.max()
    }

    private func current(of holder: Holder, now: Int64) -> [Grant] {
        grants.filter { $0.holder.isSame(holder) && ($0.until ?? .max) > now }
    }

    private func checkRoom() throws(Fault) {
        guard grants.count + denials.count + readmissions.count < Self.limit else { throw .full(limit: Self.limit) }
    }

    private static func check(_ holder: Holder, stream: String) throws(Fault) {
        guard (1...256).contains(holder.subject.utf8.count), holder.issuer.utf8.count <= 512 else {
            throw .invalid("a subject has 1…256 bytes")
        }
        guard (1...StreamPattern.maximumLength).contains(stream.utf8.count) else {
            throw .invalid("a stream has 1…256 bytes")
        }
    }
}
