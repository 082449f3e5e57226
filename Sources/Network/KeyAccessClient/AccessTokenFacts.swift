internal import FoundationEssentials
internal import KeyAccess
internal import Wire

/// What a token says of itself, unverified: enough to know when to have it renewed.
public struct AccessTokenFacts: Equatable, Sendable {
    /// Unix seconds.
    public var issuedAt: Int64?
    public var expiresAt: Int64
    public var isRenewable: Bool
    /// `jti`.
    public var id: String?
    /// `jti` of the token that it was made from.
    public var parentID: String?
    /// The one stream that it is for; nil for a token that was not narrowed.
    public var narrowedStream: String?

    /// Nil for what is not a JWT with an end: nothing can be said of it.
    public init?(_ token: String) {
        guard let parts = try? JSONWebToken(compact: token, limit: 8192),
            (try? JSONShape.check(parts.claims, depth: 16)) != nil,
            let claims = try? JSONDecoder().decode(AccessClaims.self, from: Data(parts.claims)),
            let end = claims.expiresAt
        else { return nil }
        expiresAt = end.seconds
        issuedAt = claims.issuedAt?.seconds
        isRenewable = claims.isRenewable
        id = claims.tokenID
        parentID = claims.parentID
        narrowedStream = claims.isNarrowed ? claims.streams.first : nil
    }

    /// Whether less than half of its life is left.
    public func isPastHalf(at now: Int64) -> Bool {
        guard let issuedAt, issuedAt < expiresAt else { return true }
        // Halves first: the difference of two dates out of a token may be too large.
        return now >= issuedAt / 2 + expiresAt / 2
    }
}
