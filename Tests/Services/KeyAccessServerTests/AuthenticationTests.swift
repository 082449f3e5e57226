import Cryptography
import Foundation
import Testing
import Wire

@testable import KeyAccess
@testable import KeyAccessServer

@Suite struct AuthenticationTests {
    let client = TestClient()

    private func status(_ rig: Rig, token: String?, requestToken: String? = nil) throws -> Int {
        let text = try requestToken ?? client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds)
        return rig.post(
            Route.rewrap, try JSONCoding.encode(RewrapRequest(signedRequestToken: text)), token: token
        ).status
    }

    private func forge(
        _ claims: AccessClaims, algorithm: String, kid: String? = nil, sign: ([UInt8]) throws -> [UInt8]
    ) throws -> String {
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(TokenHeader(algorithm: algorithm, keyID: kid)),
            claims: try JSONCoding.encode(claims))
        return JSONWebToken.compact(signingInput: input, signature: try sign(input))
    }

    private func claims(
        _ rig: Rig, issuer: String = KeyAccessServerConfiguration.localIssuer,
        audience: String = KeyAccessServerConfiguration.defaultAudience
    ) -> AccessClaims {
        AccessClaims(
            issuer: issuer, subject: "viewer", audience: [audience],
            expiresAt: NumericDate(seconds: rig.time.seconds + 100),
            issuedAt: NumericDate(seconds: rig.time.seconds), scopes: [Scope.rewrap], streams: ["*"])
    }

    @Test func `the service's own tokens are accepted until they expire`() throws {
        let rig = try Rig()
        let token = try rig.accessToken(lifetime: 100)
        #expect(try status(rig, token: token) == 200)
        rig.time.seconds += 159
        #expect(try status(rig, token: token) == 200)
        rig.time.seconds += 1
        #expect(try status(rig, token: token) == 401)
        rig.time.seconds -= 160 + 61
        #expect(try status(rig, token: token) == 401)
    }

    @Test func `a missing, garbled or changed token is refused before the body is looked at`() throws {
        let rig = try Rig()
        let token = try rig.accessToken()
        let parts = token.split(separator: ".").map(String.init)
        let refused = [
            nil, "", "x", "a.b.c", token + "x", parts[0] + "." + parts[1] + ".",
            parts[0] + "." + parts[1] + "." + String(parts[2].reversed()), String(repeating: "a", count: 9000),
            try Rig(ownKeys: true).accessToken(),
        ]
        for token in refused {
            let answer = rig.post(Route.rewrap, Array("not json".utf8), token: token)
            #expect(answer.status == 401)
            #expect(try answer.json(ErrorEnvelope.self).error == "authentication_failed")
        }
        #expect(rig.post(Route.rewrap, Array("not json".utf8), token: token).status == 400)
    }

    @Test func `no algorithm but the key's own is accepted`() throws {
        let rig = try Rig()
        let issuer = try #require(rig.store.ring.issuer.first)
        let own = claims(rig)
        let pem = Array(try issuer.key.publicKey.spkiPEM().utf8)
        let point = issuer.key.publicKey.uncompressed()
        #expect(try status(rig, token: forge(own, algorithm: "ES256", sign: issuer.key.signES256)) == 200)
        let refused = [
            try forge(own, algorithm: "none") { _ in [] },
            try forge(own, algorithm: "None") { _ in [] },
            try forge(own, algorithm: "HS256") { Digest.hmacSHA256(key: pem, $0) },
            try forge(own, algorithm: "HS256") { Digest.hmacSHA256(key: point, $0) },
            try forge(own, algorithm: "RS256", sign: issuer.key.signES256),
            try forge(own, algorithm: "ES256") { _ in [UInt8](repeating: 0, count: 64) },
            try forge(own, algorithm: "ES256", kid: "other", sign: issuer.key.signES256),
            try forge(own, algorithm: "ES256", sign: ECPrivateKey.generate(.p256).signES256),
        ]
        for token in refused { #expect(try status(rig, token: token) == 401) }
    }

    @Test func `issuer and audience must be the configured ones`() throws {
        let rig = try Rig()
        let issuer = try #require(rig.store.ring.issuer.first)
        for claims in [claims(rig, issuer: "https://id.example.net"), claims(rig, audience: "urn:other")] {
            #expect(try status(rig, token: forge(claims, algorithm: "ES256", sign: issuer.key.signES256)) == 401)
        }
    }

    @Test func `tokens of an issuer with a JWKS file are accepted, and the file may change`() throws {
        let rsa = try RSAPrivateKey.generate(bits: 2048)
        let ec = try ECPrivateKey.generate(.p256)
        let rig = try Rig { configuration, path in
            let keys = try JSONWebKeySet(keys: [
                JSONWebKey(
                    rsaModulus: rsa.publicKey.modulus(), exponent: rsa.publicKey.exponent(), keyID: "rsa"),
                JSONWebKey(p256Point: ec.publicKey.uncompressed(), keyID: "ec"),
            ])
            try writeFile(path + "/jwks.json", JSONCoding.encode(keys))
            configuration.issuers = [.init(issuer: "https://id", jwksFile: path + "/jwks.json", audience: "kas")]
        }
        let claims = claims(rig, issuer: "https://id", audience: "kas")
        let byRSA = try forge(claims, algorithm: "RS256", kid: "rsa", sign: rsa.signRS256)
        let byEC = try forge(claims, algorithm: "ES256", kid: "ec", sign: ec.signES256)
        #expect(try status(rig, token: byRSA) == 200)
        #expect(try status(rig, token: byEC) == 200)
        #expect(try status(rig, token: forge(claims, algorithm: "ES256", kid: "rsa", sign: ec.signES256)) == 401)
        // The same issuer can't speak for the service's own tokens.
        #expect(try status(rig, token: forge(self.claims(rig), algorithm: "ES256", sign: ec.signES256)) == 401)
        try writeFile(rig.path + "/jwks.json", Array("{".utf8))
        rig.endpoints.maintain()
        #expect(try status(rig, token: byEC) == 200)
        let rest = JSONWebKeySet(keys: [JSONWebKey(p256Point: ec.publicKey.uncompressed(), keyID: "ec")])
        try writeFile(rig.path + "/jwks.json", JSONCoding.encode(rest))
        rig.endpoints.maintain()
        #expect(try status(rig, token: byEC) == 200)
        #expect(try status(rig, token: byRSA) == 401)
    }

    @Test func `an EdDSA token is accepted`() throws {
        // The key of RFC 8037 appendix A.
        let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
        let rig = try Rig(now: 1_800_000_000) { configuration, path in
            let jwks = #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"\#(key)"}]}"#
            try writeFile(path + "/jwks.json", Array(jwks.utf8))
            configuration.issuers = [.init(issuer: "https://id", jwksFile: path + "/jwks.json")]
        }
        #expect(try status(rig, token: EdDSAToken.text) == 200)
        #expect(try status(rig, token: EdDSAToken.text.dropLast() + "A") == 401)
    }

    @Test func `HS256 works in development mode only, with a secret of 32 bytes`() throws {
        let secret = "0123456789abcdef0123456789abcdef"
        let rig = try Rig { configuration, _ in
            configuration.isDevelopment = true
            configuration.developmentSecret = .init(secret)
        }
        let token = try forge(claims(rig, issuer: rig.configuration.developmentIssuer), algorithm: "HS256") {
            Digest.hmacSHA256(key: Array(secret.utf8), $0)
        }
        #expect(try status(rig, token: token) == 200)
        let production = try Rig()
        #expect(try status(production, token: token) == 401)
        #expect(throws: KeyAccessServerError.secretOutsideDevelopment) {
            try Rig { configuration, _ in configuration.developmentSecret = .init(secret) }
        }
        #expect(throws: KeyAccessServerError.developmentSecretTooShort(count: 31)) {
            try Rig { configuration, _ in
                configuration.isDevelopment = true
                configuration.developmentSecret = .init(String(secret.dropLast()))
            }
        }
    }

    // MARK: request tokens

    @Test func `a request token is answered once`() throws {
        let rig = try Rig()
        let access = try rig.accessToken()
        let token = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds)
        #expect(try status(rig, token: access, requestToken: token) == 200)
        #expect(try status(rig, token: access, requestToken: token) == 401)
        // Another signature over the same claims doesn't make it another token.
        let parts = token.split(separator: ".").map(String.init)
        let resigned = parts[0] + "." + parts[1] + "." + Base64.encode([UInt8](repeating: 1, count: 64), alphabet: .url)
        #expect(try status(rig, token: access, requestToken: resigned) == 401)
        rig.time.seconds += 60
        #expect(try status(rig, token: access, requestToken: token) == 401)
        rig.time.seconds += 1
        #expect(try status(rig, token: access, requestToken: token) == 401)
    }

    @Test func `a jti makes two tokens one for the same subject`() throws {
        let rig = try Rig()
        let body = try client.body([rig.sealedHeader()])
        let one = try client.token(body, now: rig.time.seconds, id: "1")
        let same = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, id: "1")
        let access = try rig.accessToken()
        #expect(try status(rig, token: access, requestToken: one) == 200)
        #expect(try status(rig, token: access, requestToken: same) == 401)
        #expect(try status(rig, token: rig.accessToken(subject: "other"), requestToken: same) == 200)
    }

    /// otdf-python signs deterministically, without jti.
    @Test func `an RS256 token without jti repeats within two seconds`() throws {
        let rig = try Rig()
        let access = try rig.accessToken()
        let token = try client.token(
            client.body([rig.sealedHeader()]), now: rig.time.seconds, lifetime: 7200, algorithm: "RS256")
        #expect(try status(rig, token: access, requestToken: token) == 200)
        rig.time.seconds += 1
        #expect(try status(rig, token: access, requestToken: token) == 200)
        rig.time.seconds += 1
        #expect(try status(rig, token: access, requestToken: token) == 401)
    }

    @Test(arguments: [(0, 200), (-60, 200), (-61, 401), (60, 200), (61, 401)] as [(Int64, Int)])
    func `a request token from the past or the future`(offset: Int64, expected: Int) throws {
        let rig = try Rig()
        let token = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds + offset)
        #expect(try status(rig, token: rig.accessToken(), requestToken: token) == expected)
    }

    @Test(arguments: ["none", "HS256", "PS256", "EdDSA", ""])
    func `a request token with another algorithm is malformed`(algorithm: String) throws {
        let rig = try Rig()
        let token = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, algorithm: algorithm)
        #expect(try status(rig, token: rig.accessToken(), requestToken: token) == 400)
    }

    /// RFC 7515 §4.1.11: what a token calls critical must be understood, and nothing is.
    @Test(arguments: [["exp"], []])
    func `a request token with critical headers is malformed`(critical: [String]) throws {
        let rig = try Rig()
        let token = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, critical: critical)
        #expect(try status(rig, token: rig.accessToken(), requestToken: token) == 400)
    }

    @Test func `a request token that lives too long is refused`() throws {
        let rig = try Rig { configuration, _ in configuration.maximumRequestLifetime = 120 }
        let token = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, lifetime: 121)
        #expect(try status(rig, token: rig.accessToken(), requestToken: token) == 401)
    }

    // MARK: DPoP

    private func proof(
        _ key: ECPrivateKey, token: String, method: String = "POST",
        url: String = "http://127.0.0.1:8443/kas/v2/rewrap",
        now: Int64, id: String = "1", type: String = "dpop+jwt"
    ) throws -> String {
        let header = TokenHeader(
            algorithm: "ES256", type: type,
            key: JSONWebKey(p256Point: key.publicKey.uncompressed(), keyID: nil))
        struct Claims: Encodable {
            var jti: String
            var htm: String
            var htu: String
            var iat: Int64
            var ath: String
        }
        let claims = Claims(
            jti: id, htm: method, htu: url, iat: now,
            ath: Base64.encode(Digest.sha256(Array(token.utf8)), alphabet: .url))
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(header), claims: try JSONCoding.encode(claims))
        return JSONWebToken.compact(signingInput: input, signature: try key.signES256(input))
    }

    @Test func `a bound token needs a proof by its key, and a request token signed with it`() throws {
        let rig = try Rig()
        let issuer = try #require(rig.store.ring.issuer.first)
        let key = try ECPrivateKey.generate(.p256)
        let jwk = JSONWebKey(p256Point: key.publicKey.uncompressed(), keyID: nil)
        var claims = claims(rig)
        claims.boundKeyThumbprint = Base64.encode(Digest.sha256(try jwk.thumbprintInput()), alphabet: .url)
        let token = try forge(claims, algorithm: "ES256", sign: issuer.key.signES256)
        let now = rig.time.seconds
        var bound = client
        bound.signer = key
        func ask(_ proof: String?, client: TestClient) throws -> Int {
            let body = try client.request(client.body([rig.sealedHeader()]), now: now)
            var request = ServiceRequest(method: .post, path: Route.rewrap, address: "192.0.2.1", body: body)
            request.authorization = "DPoP \(token)"
            request.dpop = proof
            request.contentType = "application/json"
            request.authority = "127.0.0.1:8443"
            return rig.endpoints.answer(request).status
        }
        #expect(try ask(nil, client: bound) == 401)
        #expect(try ask(proof(key, token: token, now: now), client: bound) == 200)
        #expect(try ask(proof(key, token: token, now: now), client: bound) == 401, "the proof's jti was used")
        #expect(try ask(proof(key, token: token, now: now, id: "2"), client: client) == 401)
        let refused = [
            try proof(try ECPrivateKey.generate(.p256), token: token, now: now, id: "3"),
            try proof(key, token: token, method: "GET", now: now, id: "4"),
            try proof(key, token: token, url: "http://127.0.0.1:8443/kas/rewrap", now: now, id: "5"),
            try proof(key, token: token, now: now - 61, id: "6"), try proof(key, token: token, now: now + 61, id: "7"),
            try proof(key, token: "other", now: now, id: "8"),
            try proof(key, token: token, now: now, id: "9", type: "JWT"), "a.b.c",
        ]
        for proof in refused { #expect(try ask(proof, client: bound) == 401) }
    }

    /// L1: the request's own Host says nothing about who reads it.
    @Test(
        arguments: [
            ("https://kas.example.net", "https://kas.example.net", 200),
            ("https://kas.example.net/", "HTTPS://KAS.example.net:443", 200),
            ("https://kas.example.net", "https://127.0.0.1:8443", 401),
            ("https://kas.example.net", "http://kas.example.net", 401),
            ("https://kas.example.net:8443", "https://kas.example.net", 401),
            (nil, "http://127.0.0.1:8443", 200), (nil, "http://evil.example.net", 401),
        ] as [(String?, String, Int)])
    func `a proof is for the configured address`(configured: String?, claimed: String, expected: Int) throws {
        let rig = try Rig { configuration, _ in configuration.publicURL = configured }
        #expect(try boundStatus(rig, url: claimed + Route.rewrap) == expected)
    }

    @Test func `with TLS and no configured address no bound token is taken`() throws {
        let rig = try Rig { configuration, _ in
            configuration.host = "0.0.0.0"
            configuration.tls = .init(certificateChainFile: "c", privateKeyFile: "k")
        }
        #expect(try boundStatus(rig, url: "https://127.0.0.1:8443" + Route.rewrap) == 401)
        #expect(try status(rig, token: rig.accessToken()) == 200)
    }

    /// Of a request with a token that is bound to a key, and a proof for `url`.
    private func boundStatus(_ rig: Rig, url: String) throws -> Int {
        let issuer = try #require(rig.store.ring.issuer.first)
        let key = try ECPrivateKey.generate(.p256)
        var claims = claims(rig)
        let jwk = JSONWebKey(p256Point: key.publicKey.uncompressed(), keyID: nil)
        claims.boundKeyThumbprint = Base64.encode(Digest.sha256(try jwk.thumbprintInput()), alphabet: .url)
        let token = try forge(claims, algorithm: "ES256", sign: issuer.key.signES256)
        var bound = client
        bound.signer = key
        let body = try bound.request(bound.body([rig.sealedHeader()]), now: rig.time.seconds)
        var request = ServiceRequest(method: .post, path: Route.rewrap, address: "192.0.2.1", body: body)
        request.authorization = "DPoP \(token)"
        request.dpop = try proof(key, token: token, url: url, now: rig.time.seconds)
        request.contentType = "application/json"
        request.authority = "127.0.0.1:8443"
        return rig.endpoints.answer(request).status
    }

    /// L2: what lives for two hours is not remembered for two hours.
    @Test func `a request token is answered for five minutes at most`() throws {
        let rig = try Rig()
        let long = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, lifetime: 7200)
        let other = try client.token(client.body([rig.sealedHeader()]), now: rig.time.seconds, lifetime: 7200)
        let access = try rig.accessToken()
        rig.time.seconds += 300
        #expect(try status(rig, token: access, requestToken: long) == 200)
        rig.time.seconds += 1
        #expect(try status(rig, token: access, requestToken: other) == 401)
    }

    /// M5: all viewers of a stream may hold one token, and all ask when its key changes.
    @Test func `a thousand viewers that share a token and a router are answered at once`() throws {
        let rig = try Rig()
        let token = try rig.accessToken()
        let header = try rig.sealedHeader()
        let body = try client.body([header])
        let statuses = try (0..<1000).map { number in
            try status(
                rig, token: token, requestToken: client.token(body, now: rig.time.seconds, id: "\(number)"))
        }
        #expect(statuses.allSatisfy { $0 == 200 })
    }

    @Test func `subjects and addresses have limits of their own`() throws {
        let rig = try Rig { configuration, _ in
            configuration.subjectRateLimit = .init(perSecond: 1, burst: 3)
            configuration.addressRateLimit = .init(perSecond: 1, burst: 9)
        }
        let token = try rig.accessToken()
        #expect(try (0..<4).map { _ in try status(rig, token: token) } == [200, 200, 200, 429])
        let other = try rig.accessToken(subject: "other")
        #expect(try (0..<4).map { _ in try status(rig, token: other) } == [200, 200, 200, 429])
        #expect(rig.get(Route.publicKey).status == 200)
        let refused = rig.get(Route.publicKey)
        #expect(refused.status == 429)
        #expect(try refused.json(ErrorEnvelope.self).error == "rate_limited")
        rig.time.nanoseconds += 1_000_000_000
        #expect(try status(rig, token: token) == 200)
    }
}
