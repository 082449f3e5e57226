/// Answer of `POST /watchbox/v1/tokens/renew` and `…/narrow`.
public struct IssuedToken: Codable, Equatable, Sendable {
    /// A secret.
    public var token: String
    /// Unix seconds.
    public var expiresAt: Int64

    public init(token: String, expiresAt: Int64) {
        self.token = token
        self.expiresAt = expiresAt
    }
}

/// Body of `POST /watchbox/v1/tokens/narrow`: a token for one stream alone, made from the one that is presented.
public struct NarrowRequest: Codable, Equatable, Sendable {
    /// A name, no pattern.
    public var stream: String
    /// All of them must be the presented token's.
    public var scopes: [String]
    /// Seconds; the answer ends with the presented token at the latest. Nil: as that.
    public var lifetime: Int64?

    public init(stream: String, scopes: [String], lifetime: Int64? = nil) {
        self.stream = stream
        self.scopes = scopes
        self.lifetime = lifetime
    }
}

extension AccessClaims {
    /// How long after its end a renewable token can still be renewed, when the owner readmits its subject.
    public static let renewalGrace: Int64 = 365 * 86_400

    /// Claims of the token that takes this one's place: the same, for as long as it was issued for.
    ///
    /// - Parameter id: `jti` of the new one.
    public func renewed(id: String, now: Int64, maxLifetime: Int64) -> AccessClaims {
        var claims = self
        let lifetime = (expiresAt?.seconds ?? now).saturatingSubtract(issuedAt?.seconds ?? now)
        claims.expiresAt = NumericDate(seconds: now.saturatingAdd(min(max(lifetime, 1), maxLifetime)))
        claims.issuedAt = NumericDate(seconds: now)
        claims.notBefore = nil
        claims.tokenID = id
        claims.parentID = tokenID
        claims.familyID = familyID ?? tokenID
        return claims
    }

    /// Claims of a token for one stream. It cannot be renewed: who needs a new one narrows again.
    ///
    /// - Parameter end: Unix seconds; it never ends after this one.
    public func narrowed(id: String, stream: String, scopes: [String], end: Int64, now: Int64) -> AccessClaims {
        var claims = self
        claims.expiresAt = NumericDate(seconds: min(end, expiresAt?.seconds ?? end))
        claims.issuedAt = NumericDate(seconds: now)
        claims.notBefore = nil
        claims.scopes = scopes
        claims.streams = [stream]
        claims.tokenID = id
        claims.parentID = tokenID
        claims.familyID = familyID ?? tokenID
        claims.isRenewable = false
        claims.isNarrowed = true
        return claims
    }
}
