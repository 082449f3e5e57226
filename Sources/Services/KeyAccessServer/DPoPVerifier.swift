internal import Cryptography
internal import KeyAccess
internal import Synchronization
internal import Wire

/// Checks that who presents a bound access token holds the key that it is bound to (RFC 9449).
final class DPoPVerifier: Sendable {
    private struct Claims: Decodable {
        var jti: String?
        var htm: String?
        var htu: String?
        var iat: NumericDate?
        var ath: String?
    }

    private static let skew: Int64 = 60

    private let seen = Mutex(ReplayMemory(capacity: 65_536))

    /// - Parameters:
    ///   - proof: the `DPoP` header; nil when the request has none.
    ///   - accessToken: as it came.
    ///   - thumbprint: `cnf.jkt` of the access token.
    ///   - url: of this request, as the client reaches the service, without query.
    /// - Returns: the client's key, with which its request token must be signed too.
    func verify(
        proof: String?, accessToken: some StringProtocol, thumbprint: String, method: String, url: String, now: Int64
    ) throws(ServiceFault) -> VerificationKey {
        guard let proof else {
            throw .authenticationFailed("The access token is bound to a key; a DPoP proof is needed.")
        }
        let refused = ServiceFault.authenticationFailed("The DPoP proof does not hold for this request.")
        let key: VerificationKey
        let claims: Claims
        do {
            let token = try JSONWebToken(compact: proof, limit: 8192)
            let header = try JSONCoding.decode(TokenHeader.self, from: token.header, depth: 8)
            claims = try JSONCoding.decode(Claims.self, from: token.claims, depth: 8)
            guard header.type == "dpop+jwt", header.critical == nil, let jwk = header.key else { throw refused }
            key = try VerificationKey(jwk)
            let presented = Base64.encode(Digest.sha256(try jwk.thumbprintInput()), alphabet: .url)
            guard constantTimeEqual(Array(presented.utf8), Array(thumbprint.utf8)),
                key.verifies(token, algorithm: header.algorithm)
            else { throw refused }
        } catch {
            throw refused
        }
        let hash = Base64.encode(Digest.sha256(Array(accessToken.utf8)), alphabet: .url)
        guard claims.htm == method, let claimed = claims.htu, Self.comparable(claimed) == Self.comparable(url),
            claims.ath == hash,
            let issued = claims.iat?.seconds, issued > now - Self.skew, issued < now + Self.skew,
            let identifier = claims.jti, !identifier.isEmpty
        else { throw refused }
        let fingerprint = ReplayMemory.Fingerprint(digest: Digest.sha256(Array((thumbprint + "\0" + identifier).utf8)))
        let outcome = seen.withLock {
            $0.presented(
                fingerprint, by: thumbprint, expiry: issued + Self.skew, mayRepeatSince: nil, now: now)
        }
        switch outcome {
        case .fresh: return key
        case .replayed: throw refused
        case .shareUsed: throw .rateLimited
        case .full: throw .unavailable
        }
    }

    /// Without query and fragment, which RFC 9449 §4.3 ignores; scheme and host in lower case, without the port that goes
    /// without saying.
    private static func comparable(_ url: String) -> String {
        let bare = url.prefix { $0 != "?" && $0 != "#" }
        guard let start = bare.firstRange(of: "://") else { return String(bare) }
        let path = bare[start.upperBound...].drop { $0 != "/" }
        var origin = bare[..<path.startIndex].lowercased()
        for (scheme, port) in [("https://", ":443"), ("http://", ":80")]
        where origin.hasPrefix(scheme) && origin.hasSuffix(port) {
            origin.removeLast(port.count)
        }
        return origin + path
    }
}
