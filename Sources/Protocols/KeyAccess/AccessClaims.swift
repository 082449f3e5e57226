/// Claims of a bearer access token.
public struct AccessClaims: Codable, Equatable, Sendable {
    public var issuer: String?
    public var subject: String?
    public var audience: [String]
    public var expiresAt: NumericDate?
    public var notBefore: NumericDate?
    public var issuedAt: NumericDate?
    public var tokenID: String?
    /// From `scope` (space-separated text) or `scp` (a list).
    public var scopes: [String]
    /// From `client_id`, else `azp`: selects the session salt.
    public var clientID: String?
    /// Names or patterns (`StreamPattern`) of the streams that the token opens.
    public var streams: [String]
    /// Data attributes that the token grants, as fully qualified names.
    public var attributes: [String]
    /// Thumbprint of the DPoP key that the token is bound to (`cnf.jkt`, RFC 9449 §6).
    public var boundKeyThumbprint: String?
    /// Whether the KAS gives a new token for this one (`renewable`).
    public var isRenewable = false
    /// Whether it was made from another token for one stream, and no grant adds to it (`narrowed`).
    public var isNarrowed = false
    /// `jti` of the token that it was made from (`parent`), and of the first of that line (`family`): who revokes them
    /// revokes this one.
    public var parentID: String?
    public var familyID: String?

    public init(
        issuer: String, subject: String, audience: [String], expiresAt: NumericDate, issuedAt: NumericDate,
        scopes: [String], clientID: String? = nil, streams: [String] = [], attributes: [String] = [],
        tokenID: String? = nil
    ) {
        self.issuer = issuer
        self.subject = subject
        self.audience = audience
        self.expiresAt = expiresAt
        self.issuedAt = issuedAt
        self.scopes = scopes
        self.clientID = clientID
        self.streams = streams
        self.attributes = attributes
        self.tokenID = tokenID
    }

    private enum CodingKeys: String, CodingKey {
        case issuer = "iss"
        case subject = "sub"
        case audience = "aud"
        case expiresAt = "exp"
        case notBefore = "nbf"
        case issuedAt = "iat"
        case tokenID = "jti"
        case scope
        case scopeList = "scp"
        case clientID = "client_id"
        case authorizedParty = "azp"
        case streams, attributes
        case confirmation = "cnf"
        case isRenewable = "renewable"
        case isNarrowed = "narrowed"
        case parentID = "parent"
        case familyID = "family"
    }

    private struct Confirmation: Codable {
        var jkt: String?
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        issuer = try container.decodeIfPresent(String.self, forKey: .issuer)
        subject = try container.decodeIfPresent(String.self, forKey: .subject)
        audience = try Self.list(container, .audience)
        expiresAt = try container.decodeIfPresent(NumericDate.self, forKey: .expiresAt)
        notBefore = try container.decodeIfPresent(NumericDate.self, forKey: .notBefore)
        issuedAt = try container.decodeIfPresent(NumericDate.self, forKey: .issuedAt)
        tokenID = try container.decodeIfPresent(String.self, forKey: .tokenID)
        let scope = try container.decodeIfPresent(String.self, forKey: .scope) ?? ""
        scopes = scope.split(separator: " ").map(String.init) + (try Self.list(container, .scopeList))
        clientID =
            try container.decodeIfPresent(String.self, forKey: .clientID)
            ?? container.decodeIfPresent(String.self, forKey: .authorizedParty)
        streams = try Self.list(container, .streams)
        attributes = try Self.list(container, .attributes)
        boundKeyThumbprint = try container.decodeIfPresent(Confirmation.self, forKey: .confirmation)?.jkt
        // Other issuers may mean something else by these names.
        isRenewable = (try? container.decodeIfPresent(Bool.self, forKey: .isRenewable)) ?? false
        isNarrowed = (try? container.decodeIfPresent(Bool.self, forKey: .isNarrowed)) ?? false
        parentID = (try? container.decodeIfPresent(String.self, forKey: .parentID)) ?? nil
        familyID = (try? container.decodeIfPresent(String.self, forKey: .familyID)) ?? nil
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(issuer, forKey: .issuer)
        try container.encodeIfPresent(subject, forKey: .subject)
        if audience.count == 1 {
            try container.encode(audience[0], forKey: .audience)
        } else if !audience.isEmpty {
            try container.encode(audience, forKey: .audience)
        }
        try container.encodeIfPresent(expiresAt, forKey: .expiresAt)
        try container.encodeIfPresent(notBefore, forKey: .notBefore)
        try container.encodeIfPresent(issuedAt, forKey: .issuedAt)
        try container.encodeIfPresent(tokenID, forKey: .tokenID)
        if !scopes.isEmpty { try container.encode(scopes.joined(separator: " "), forKey: .scope) }
        try container.encodeIfPresent(clientID, forKey: .clientID)
        if !streams.isEmpty { try container.encode(streams, forKey: .streams) }
        if !attributes.isEmpty { try container.encode(attributes, forKey: .attributes) }
        if let boundKeyThumbprint {
            try container.encode(Confirmation(jkt: boundKeyThumbprint), forKey: .confirmation)
        }
        if isRenewable { try container.encode(true, forKey: .isRenewable) }
        if isNarrowed { try container.encode(true, forKey: .isNarrowed) }
        try container.encodeIfPresent(parentID, forKey: .parentID)
        try container.encodeIfPresent(familyID, forKey: .familyID)
    }

    /// A claim that is one string or a list of them (RFC 7519 §4.1.3).
    private static func list(
        _ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys
    ) throws -> [String] {
        guard container.contains(key), try !container.decodeNil(forKey: key) else { return [] }
        if let one = try? container.decode(String.self, forKey: key) { return [one] }
        return try container.decode([String].self, forKey: key)
    }
}

/// What a token's scope allows at this service.
public enum Scope {
    /// Subscribers: ask for keys.
    public static let rewrap = "kas.rewrap"
    /// Publishers: register headers.
    public static let publish = "kas.publish"
}

/// The rules for an access token's claims, after its signature was verified.
public struct AccessTokenRules: Sendable {
    /// How far the clocks of issuer and service may differ, in seconds.
    public var skew: Int64 = 60
    /// The `aud` that names this service.
    public var audience: String
    /// Longest subject, in bytes: it goes into audit lines and memory.
    public var maximumSubjectLength = 256

    public init(audience: String) {
        self.audience = audience
    }

    /// What is wrong; the text reaches the client.
    public enum Fault: String, Error, Equatable, Sendable {
        case expired = "The access token is expired."
        case notYetValid = "The access token is not valid yet."
        case missingExpiry = "The access token has no expiry."
        case wrongAudience = "The access token is for another service."
        case missingSubject = "The access token names no subject."
    }

    /// - Parameter now: Unix seconds.
    public func check(_ claims: AccessClaims, now: Int64) throws(Fault) {
        guard let expiry = claims.expiresAt else { throw .missingExpiry }
        guard expiry.seconds > now.saturatingSubtract(skew) else { throw .expired }
        if let start = claims.notBefore, start.seconds > now.saturatingAdd(skew) { throw .notYetValid }
        if let issued = claims.issuedAt, issued.seconds > now.saturatingAdd(skew) { throw .notYetValid }
        guard claims.audience.contains(audience) else { throw .wrongAudience }
        guard let subject = claims.subject, !subject.isEmpty, subject.utf8.count <= maximumSubjectLength else {
            throw .missingSubject
        }
    }
}

extension Int64 {
    public func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    public func saturatingSubtract(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}
