internal import Cryptography
internal import KeyAccess
internal import Synchronization

/// Decides whether a bearer access token is one that this service accepts.
///
/// The issuer's name selects the keys, and each key has one algorithm of its own; so neither `alg: none` nor an HMAC
/// made with a public key gets anywhere.
final class AccessTokenVerifier: Sendable {
    /// Longest access token, in bytes.
    static let maximumLength = 8192

    private struct KeySetFile {
        var issuer: KeyAccessServerConfiguration.TrustedIssuer
        var path: String
        var keys: [VerificationKey]
        var stamp: UInt64
    }

    private let configuration: KeyAccessServerConfiguration
    private let store: KeyStore
    private let register: AccessRegister
    private let files: Mutex<[KeySetFile]>
    /// By issuer.
    private let remotes: [String: (issuer: KeyAccessServerConfiguration.TrustedIssuer, set: RemoteKeySet)]

    /// Reads the configured JWKS files; one that can't be read stops the start. Those under a URL come later.
    init(
        configuration: KeyAccessServerConfiguration, store: KeyStore, register: AccessRegister,
        fetch: @escaping RemoteKeySet.Fetch
    ) throws {
        self.configuration = configuration
        self.store = store
        self.register = register
        files = Mutex(
            try configuration.issuers.compactMap { issuer in
                guard let path = issuer.jwksFile else { return nil }
                let stamp = PlainFile.stamp(path)
                return KeySetFile(issuer: issuer, path: path, keys: try Self.load(path), stamp: stamp)
            })
        remotes = Dictionary(
            configuration.issuers.compactMap { issuer in
                issuer.jwksURL.map { (issuer.issuer, (issuer, RemoteKeySet(url: $0, fetch: fetch))) }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Asks issuers for their keys where it is time to; takes as long as they do.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    /// - Returns: what went wrong, a message each.
    func refreshRemotes(now: UInt64) async -> [String] {
        var problems: [String] = []
        for remote in remotes.values {
            if let problem = await remote.set.refreshIfDue(now: now) { problems.append(problem) }
        }
        return problems
    }

    /// Reads again the files that have changed. A file that can't be read keeps its old keys.
    ///
    /// - Returns: the paths that could not be read.
    func refresh() -> [String] {
        files.withLock { files in
            var failed: [String] = []
            for index in files.indices {
                let path = files[index].path
                let stamp = PlainFile.stamp(path)
                guard stamp != files[index].stamp else { continue }
                if let keys = try? Self.load(path) {
                    files[index].keys = keys
                    files[index].stamp = stamp
                } else {
                    failed.append(path)
                }
            }
            return failed
        }
    }

    /// - Parameters:
    ///   - now: Unix seconds.
    ///   - grace: how long ago it may have ended, in seconds: for a token that is to be renewed.
    func verify(
        _ text: some StringProtocol, now: Int64, grace: Int64 = 0
    ) throws(ServiceFault) -> AccessClaims {
        let refused = ServiceFault.authenticationFailed("This access token is not one that the service accepts.")
        let token: JSONWebToken
        let header: TokenHeader
        let claims: AccessClaims
        do {
            token = try JSONWebToken(compact: text, limit: Self.maximumLength)
            header = try JSONCoding.decode(TokenHeader.self, from: token.header, depth: 8)
            claims = try JSONCoding.decode(AccessClaims.self, from: token.claims, depth: 16)
        } catch {
            throw .authenticationFailed("The access token is not a JWT that can be read.")
        }
        guard header.critical == nil, let issuer = claims.issuer else { throw refused }
        let (keys, audience) = try keys(of: issuer)
        let proven = keys.first { key in
            (header.keyID == nil || key.kid == nil || header.keyID == key.kid)
                && key.verifies(token, algorithm: header.algorithm)
        }
        guard let proven else {
            if let keyID = header.keyID, !keys.contains(where: { $0.kid == keyID }) { remotes[issuer]?.set.lacksKey() }
            throw refused
        }
        let isLocal = issuer == KeyAccessServerConfiguration.localIssuer
        guard !register.revocations.refuses(claims, kid: isLocal ? proven.kid : nil) else {
            throw .authenticationFailed("The access token is revoked.")
        }
        do {
            let latest = claims.expiresAt?.seconds ?? now
            // Checked as of its last moment, when that is not too long ago.
            let instant = grace > 0 && latest < now && now - grace <= latest ? latest : now
            try AccessTokenRules(audience: audience).check(claims, now: instant)
        } catch {
            throw .authenticationFailed(error.rawValue)
        }
        return claims
    }

    private func keys(
        of issuer: String
    ) throws(ServiceFault) -> (keys: [VerificationKey], audience: String) {
        if issuer == KeyAccessServerConfiguration.localIssuer {
            return (
                store.ring.issuer.map { VerificationKey(kid: $0.kid, .es256($0.key.publicKey)) }, configuration.audience
            )
        }
        if configuration.isDevelopment, issuer == configuration.developmentIssuer,
            let secret = configuration.developmentSecret
        {
            return ([VerificationKey(kid: nil, .hs256(Array(secret.text.utf8)))], configuration.audience)
        }
        if let remote = remotes[issuer] {
            // Not the caller's fault, so the answer asks it to try again.
            guard let keys = remote.set.keys else { throw .unavailable }
            return (keys, remote.issuer.audience ?? configuration.audience)
        }
        return files.withLock { files in
            guard let file = files.first(where: { $0.issuer.issuer == issuer }) else { return ([], "") }
            return (file.keys, file.issuer.audience ?? configuration.audience)
        }
    }

    private static func load(_ path: String) throws -> [VerificationKey] {
        try VerificationKey.set(try PlainFile.read(path, limit: RemoteKeySet.maximumBytes), from: path)
    }
}
