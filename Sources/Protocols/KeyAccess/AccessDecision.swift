/// Who asks, and what was granted to them by token and configuration together.
public struct Subject: Equatable, Sendable {
    /// What the operator granted for some streams while the service runs; it counts for these alone.
    public struct Addition: Equatable, Sendable {
        public var streams: StreamPattern
        /// Beside those of the token.
        public var scopes: Set<String>
        /// Lower case.
        public var attributes: Set<String>

        public init(streams: StreamPattern, scopes: some Sequence<String>, attributes: some Sequence<String>) {
            self.streams = streams
            self.scopes = Set(scopes)
            self.attributes = Set(attributes.map { $0.lowercased() })
        }
    }

    public var identity: Identity
    public var clientID: String?
    public var scopes: Set<String>
    public var streams: [StreamPattern]
    /// Taken away by the operator, whatever `streams` and `additions` say.
    public var deniedStreams: [StreamPattern] = []
    public var additions: [Addition] = []
    /// Lower case.
    public var attributes: Set<String>

    public init(
        identity: Identity, clientID: String? = nil, scopes: Set<String>, streams: [StreamPattern],
        attributes: some Sequence<String>
    ) {
        self.identity = identity
        self.clientID = clientID
        self.scopes = scopes
        self.streams = streams
        self.attributes = Set(attributes.map { $0.lowercased() })
    }

    /// - Parameters:
    ///   - claims: of a verified token whose `iss` and `sub` were checked.
    ///   - defaultIssuer: whose subjects rules and policies name without their issuer.
    public init(claims: AccessClaims, rules: AccessRules, defaultIssuer: String) {
        let identity = Identity(
            issuer: claims.issuer ?? "", subject: claims.subject ?? "", defaultIssuer: defaultIssuer)
        let granted =
            claims.isNarrowed ? [] : rules.rules.filter { StreamPattern($0.subject).matches(identity.text) }
        self.init(
            identity: identity, clientID: claims.clientID, scopes: Set(claims.scopes),
            streams: (claims.streams + granted.flatMap(\.streams)).map(StreamPattern.init),
            attributes: claims.attributes + granted.flatMap(\.attributes))
    }

    /// For audit lines and limits.
    public var name: String { identity.text }

    /// Whether it may do what the scope stands for with this stream.
    public func may(_ scope: String, stream: String) -> Bool {
        if deniedStreams.contains(where: { $0.matches(stream) }) { return false }
        if scopes.contains(scope), streams.contains(where: { $0.matches(stream) }) { return true }
        return additions.contains { has(scope, in: $0) && $0.streams.matches(stream) }
    }

    /// Whether it may do what the scope stands for with any stream at all.
    public func may(_ scope: String) -> Bool {
        scopes.contains(scope) || additions.contains { $0.scopes.contains(scope) }
    }

    /// Whether it may do so with everything, and so also with what no stream is known for.
    public func mayWithEveryStream(_ scope: String) -> Bool {
        guard deniedStreams.isEmpty else { return false }
        if scopes.contains(scope), streams.contains(.any) { return true }
        return additions.contains { has(scope, in: $0) && $0.streams == .any }
    }

    /// What it has for a stream; nil: for what belongs to none, where a grant of every stream counts.
    public func attributes(for stream: String?) -> Set<String> {
        additions.reduce(into: attributes) { all, addition in
            if stream.map(addition.streams.matches) ?? (addition.streams == .any) { all.formUnion(addition.attributes) }
        }
    }

    private func has(_ scope: String, in addition: Addition) -> Bool {
        scopes.contains(scope) || addition.scopes.contains(scope)
    }
}

/// Grants that the operator's configuration adds to those in the tokens.
public struct AccessRules: Codable, Equatable, Sendable {
    public struct Rule: Codable, Equatable, Sendable {
        /// A name or a pattern in the form of `StreamPattern`, compared with `Identity.text`.
        public var subject: String
        public var streams: [String]
        public var attributes: [String]

        public init(subject: String, streams: [String] = [], attributes: [String] = []) {
            self.subject = subject
            self.streams = streams
            self.attributes = attributes
        }

        private enum CodingKeys: String, CodingKey {
            case subject, streams, attributes
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            subject = try container.decode(String.self, forKey: .subject)
            streams = try container.decodeIfPresent([String].self, forKey: .streams) ?? []
            attributes = try container.decodeIfPresent([String].self, forKey: .attributes) ?? []
        }
    }

    public var rules: [Rule]

    public init(rules: [Rule] = []) {
        self.rules = rules
    }
}

/// Whether a subject gets a key: every attribute granted ∧ (`dissem` empty or holds the subject) ∧ stream granted.
public enum AccessDecision: Equatable, Sendable {
    case permit
    case deny(Reason)

    /// Goes into the audit line; the client learns only that it was refused.
    public enum Reason: String, Equatable, Sendable {
        case attributeNotGranted = "attribute not granted"
        case notInDissem = "subject not in dissem"
        case streamNotGranted = "stream not granted"
        case headerNotRegistered = "header not registered"
    }

    /// What is known about the stream that a key belongs to.
    public enum Origin: Equatable, Sendable {
        /// The publisher registered the header for this stream.
        case registered(stream: String)
        case unregistered
        /// A file (TDF3). Where its policy names a stream it is a recording of that, and nobody sees it who may not see the stream: the policy is
        /// bound to the key.
        case archive
    }

    public static func decide(
        policy: AccessPolicy, origin: Origin, subject: Subject, requiresRegistration: Bool
    ) -> AccessDecision {
        let attributes: Set<String>
        switch origin {
        case .registered(let stream):
            guard subject.may(Scope.rewrap, stream: stream) else { return .deny(.streamNotGranted) }
            attributes = subject.attributes(for: stream)
        case .unregistered:
            guard !requiresRegistration else { return .deny(.headerNotRegistered) }
            guard subject.mayWithEveryStream(Scope.rewrap) else { return .deny(.streamNotGranted) }
            attributes = subject.attributes(for: nil)
        case .archive where policy.stream != nil:
            let stream = policy.stream ?? ""
            guard subject.may(Scope.rewrap, stream: stream) else { return .deny(.streamNotGranted) }
            attributes = subject.attributes(for: stream)
        case .archive:
            // A scope that was granted for some streams opens no file that is of none.
            guard subject.scopes.contains(Scope.rewrap) || subject.mayWithEveryStream(Scope.rewrap) else {
                return .deny(.streamNotGranted)
            }
            attributes = subject.attributes(for: nil)
        }
        guard policy.body.dataAttributes.allSatisfy({ attributes.contains($0.name.lowercased()) }) else {
            return .deny(.attributeNotGranted)
        }
        guard policy.body.dissem.isEmpty || policy.body.dissem.contains(where: subject.identity.matches) else {
            return .deny(.notInDissem)
        }
        return .permit
    }
}
