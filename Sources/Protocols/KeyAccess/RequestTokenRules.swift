/// The rules for the times of a rewrap request token. OpenTDF's platform checks times always, and signatures only with DPoP.
public struct RequestTokenRules: Sendable {
    /// How far a client's clock may be ahead, in seconds.
    public var skew: Int64 = 60
    /// Longest `exp` − `iat` in seconds. otdf-python asks for 7200, OpenTDFKit for 60.
    public var maximumLifetime: Int64 = 7200
    /// Longest time from `iat` to the answer in seconds, so that a token that lives for two hours is not remembered for
    /// two hours: clients make one for each request.
    public var maximumAge: Int64 = 300

    public init() {}

    /// What is wrong; the text reaches the client.
    public enum Fault: String, Error, Equatable, Sendable {
        case missingTimes = "The request token lacks iat or exp."
        case expired = "The request token is expired."
        case fromTheFuture = "The request token's iat lies in the future; set the client's clock."
        case tooLongLived = "The request token lives too long."
    }

    /// Checks the times and returns until when (Unix seconds, inclusive) the token must be remembered.
    ///
    /// The skew is granted to `iat` alone: a grace after `exp` would double the life of a 60 s token, and a client
    /// whose clock is behind by less than its own lifetime passes anyway.
    public func check(_ claims: RewrapRequestClaims, now: Int64) throws(Fault) -> Int64 {
        guard let issued = claims.issuedAt?.seconds, let expiry = claims.expiresAt?.seconds else {
            throw .missingTimes
        }
        guard now <= expiry else { throw .expired }
        guard issued <= now.saturatingAdd(skew) else { throw .fromTheFuture }
        guard expiry.saturatingSubtract(issued) <= maximumLifetime else { throw .tooLongLived }
        let end = min(expiry, issued.saturatingAdd(maximumAge))
        guard now <= end else { throw .expired }
        return end
    }
}
