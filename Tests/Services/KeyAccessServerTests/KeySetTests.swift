import Cryptography
import Foundation
import HTTPClient
import Logging
import Synchronization
import Testing

@testable import KeyAccess
@testable import KeyAccessServer

/// An issuer whose keys are under a URL.
@Suite struct KeySetTests {
    /// The issuer's server, as a script.
    private final class Server: Sendable {
        private struct State {
            var response = HTTPResponse(status: 503)
            var requests: [HTTPRequest] = []
        }

        private let state = Mutex(State())

        var response: HTTPResponse {
            get { state.withLock { $0.response } }
            set { state.withLock { $0.response = newValue } }
        }

        var requests: [HTTPRequest] { state.withLock { $0.requests } }

        func fetch(_ request: HTTPRequest) -> HTTPResponse {
            state.withLock { state in
                state.requests.append(request)
                return state.response
            }
        }

        func serve(_ keys: [(ECPrivateKey, String)], headers: [HTTPHeader] = []) throws {
            let set = JSONWebKeySet(
                keys: keys.map { JSONWebKey(p256Point: $0.0.publicKey.uncompressed(), keyID: $0.1) })
            response = HTTPResponse(status: 200, headers: headers, body: try JSONCoding.encode(set))
        }
    }

    private static let minute: UInt64 = 60_000_000_000

    private func configured(_ rig: Rig, _ server: Server) throws -> KeyAccessEndpoints {
        var configuration = rig.configuration
        configuration.issuers = [.init(issuer: "https://id", jwksURL: "https://id.example.net/jwks")]
        return try KeyAccessEndpoints(
            configuration: configuration, store: rig.store, clock: rig.clock,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        ) { server.fetch($0) }
    }

    private func status(_ endpoints: KeyAccessEndpoints, _ rig: Rig, _ key: ECPrivateKey, _ kid: String) throws -> Int {
        let claims = AccessClaims(
            issuer: "https://id", subject: "viewer", audience: [KeyAccessServerConfiguration.defaultAudience],
            expiresAt: NumericDate(seconds: rig.time.seconds + 3600),
            issuedAt: NumericDate(seconds: rig.time.seconds), scopes: [Scope.rewrap], streams: ["*"])
        let input = JSONWebToken.signingInput(
            header: try JSONCoding.encode(TokenHeader(algorithm: "ES256", keyID: kid)),
            claims: try JSONCoding.encode(claims))
        let token = JSONWebToken.compact(signingInput: input, signature: try key.signES256(input))
        let client = TestClient()
        var request = ServiceRequest(method: .post, path: Route.rewrap, address: "192.0.2.1")
        request.authorization = "Bearer \(token)"
        request.contentType = "application/json"
        request.body = try client.request(client.body([rig.sealedHeader()]), now: rig.time.seconds)
        return endpoints.answer(request).status
    }

    @Test func `keys come in the background, and their age and tag are kept to`() async throws {
        let rig = try Rig()
        let server = Server()
        let endpoints = try configured(rig, server)
        let key = try ECPrivateKey.generate(.p256)
        #expect(try status(endpoints, rig, key, "one") == 503, "not the caller's fault")
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 1)
        #expect(server.requests[0].url == "https://id.example.net/jwks")
        #expect(server.requests[0].maximumResponseBytes == 262_144)
        #expect(try status(endpoints, rig, key, "one") == 503)
        try server.serve(
            [(key, "one")], headers: [HTTPHeader("ETag", "\"a\""), HTTPHeader("Cache-Control", "max-age=600")])
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 1, "a failure is not tried again at once")
        rig.time.nanoseconds += Self.minute
        await endpoints.refreshIssuers()
        #expect(try status(endpoints, rig, key, "one") == 200)
        rig.time.nanoseconds += 9 * Self.minute
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 2)
        server.response = HTTPResponse(status: 304)
        rig.time.nanoseconds += Self.minute
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 3)
        #expect(server.requests[2].headers.contains(HTTPHeader("If-None-Match", "\"a\"")))
        #expect(try status(endpoints, rig, key, "one") == 200)
    }

    @Test(
        arguments: [
            HTTPResponse(status: 500), HTTPResponse(status: 200, body: Array("{".utf8)),
            HTTPResponse(status: 200, body: Array(#"{"keys":[]}"#.utf8)), HTTPResponse(status: 302),
        ])
    func `the last good keys stay in use`(bad: HTTPResponse) async throws {
        let rig = try Rig()
        let server = Server()
        let endpoints = try configured(rig, server)
        let key = try ECPrivateKey.generate(.p256)
        try server.serve([(key, "one")])
        await endpoints.refreshIssuers()
        server.response = bad
        rig.time.nanoseconds += 5 * Self.minute
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 2)
        #expect(try status(endpoints, rig, key, "one") == 200)
        let next = try ECPrivateKey.generate(.p256)
        try server.serve([(next, "two")])
        rig.time.nanoseconds += Self.minute
        await endpoints.refreshIssuers()
        #expect(try status(endpoints, rig, next, "two") == 200)
        #expect(try status(endpoints, rig, key, "one") == 401)
    }

    @Test func `an unknown key is asked for, once a minute at most`() async throws {
        let rig = try Rig()
        let server = Server()
        let endpoints = try configured(rig, server)
        let (old, new) = (try ECPrivateKey.generate(.p256), try ECPrivateKey.generate(.p256))
        try server.serve([(old, "old")], headers: [HTTPHeader("Cache-Control", "public, max-age=86400")])
        await endpoints.refreshIssuers()
        try server.serve([(old, "old"), (new, "new")])
        for _ in 0..<10 {
            #expect(try status(endpoints, rig, new, "new") == 401)
            await endpoints.refreshIssuers()
        }
        #expect(server.requests.count == 1)
        rig.time.nanoseconds += Self.minute
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 2)
        #expect(try status(endpoints, rig, new, "new") == 200)
        // A wrong signature under a known name is not a reason to ask.
        #expect(try status(endpoints, rig, new, "old") == 401)
        rig.time.nanoseconds += Self.minute
        await endpoints.refreshIssuers()
        #expect(server.requests.count == 2)
    }

    @Test(
        arguments: [
            (nil, 300), ("no-store", 300), ("max-age=5", 60), ("public, MAX-AGE=3600", 3600),
            ("max-age=999999", 86_400),
            ("max-age=-1", 300), ("max-age=x", 300), ("s-maxage=7200", 300),
        ] as [(String?, UInt64)])
    func `ages are bounded`(header: String?, seconds: UInt64) {
        #expect(RemoteKeySet.maxAge(header) == seconds)
    }

    @Test func `a set over a wire that others can change, twice or not at all is refused`() {
        typealias Issuer = KeyAccessServerConfiguration.TrustedIssuer
        for issuers in [
            [Issuer(issuer: "i", jwksURL: "http://id.example.net/jwks")], [Issuer(issuer: "i")],
            [Issuer(issuer: "i", jwksURL: "http://127.0.0.1.example.net/jwks")],
            [Issuer(issuer: "i", jwksFile: "/f", jwksURL: "https://id/jwks")],
            [Issuer(issuer: "i", jwksURL: "https://id/a"), Issuer(issuer: "i", jwksURL: "https://id/b")],
            [Issuer(issuer: KeyAccessServerConfiguration.localIssuer, jwksURL: "https://id/a")],
        ] {
            #expect(throws: KeyAccessServerError.self) {
                try Rig { configuration, _ in configuration.issuers = issuers }
            }
        }
    }
}
