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
    private static let maximumKeys = 64

    private struct KeySetFile {
        var issuer: KeyAccessServerConfiguration.TrustedIssuer
        var keys: [VerificationKey]
        var stamp: UInt64
    }

    private let configuration: KeyAccessServerConfiguration
    private let store: KeyStore
    private let files: Mutex<[KeySetFile]>

    /// Reads the configured JWKS files; one that can't be read stops the start.
    init(configuration: KeyAccessServerConfiguration, store: KeyStore) throws {
        self.configuration = configuration
        self.store = store
        files = Mutex(
            try configuration.issuers.map { issuer in
                guard issuer.issuer != KeyAccessServerConfiguration.localIssuer else {
                    throw KeyAccessServerError.invalid(
                        setting: "issuers", what: "\(issuer.issuer) is this service's own name")
                }
                let stamp = PlainFile.stamp(issuer.jwksFile)
                return KeySetFile(issuer: issuer, keys: try Self.load(issuer.jwksFile), stamp: stamp)
            })
    }

    /// Reads again the files that have changed. A file that can't be read keeps its old keys.
    ///
    /// - Returns: the paths that could not be read.
    func refresh() -> [String] {
        files.withLock { files in
            var failed: [String] = []
            for index in files.indices {
                let path = files[index].issuer.jwksFile
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

    /// - Parameter now: Unix seconds.
    func verify(_ text: some StringProtocol, now: Int64) throws(ServiceFault) -> AccessClaims {
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
        let (keys, audience) = keys(of: issuer)
        let isGenuine = keys.contains { key in
            (header.keyID == nil || key.kid == nil || header.keyID == key.kid)
                && key.verifies(token, algorithm: header.algorithm)
        }
        guard isGenuine else { throw refused }
        do {
            try AccessTokenRules(audience: audience).check(claims, now: now)
        } catch {
            throw .authenticationFailed(error.rawValue)
        }
        return claims
    }

    private func keys(of issuer: String) -> (keys: [VerificationKey], audience: String) {
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
        return files.withLock { files in
            guard let file = files.first(where: { $0.issuer.issuer == issuer }) else { return ([], "") }
            return (file.keys, file.issuer.audience ?? configuration.audience)
        }
    }

    private static func load(_ path: String) throws -> [VerificationKey] {
        let set: JSONWebKeySet
        do {
            set = try JSONCoding.decode(JSONWebKeySet.self, from: try PlainFile.read(path, limit: 262_144))
        } catch let error as StateDirectoryError {
            throw error
        } catch {
            throw KeyAccessServerError.file(path: path, what: "it is not a JWKS file")
        }
        // Keys for encryption and of kinds that we don't know are for somebody else.
        let keys = set.keys.filter { $0.use == nil || $0.use == "sig" }.compactMap { try? VerificationKey($0) }
        guard !keys.isEmpty, keys.count <= maximumKeys else {
            throw KeyAccessServerError.file(
                path: path, what: "it holds \(keys.count) keys for ES256, RS256 or EdDSA; 1…\(maximumKeys) are needed")
        }
        return keys
    }
}
