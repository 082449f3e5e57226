import TestSupport
import Testing

@testable import HTTPClient

/// Against a Python server that computes RFC 7616 by itself.
@Suite(.ownThread, .timeLimit(.minutes(15)), .enabled(if: PythonPeer.isInstalled, "python3 is not installed"))
struct HTTPClientLoginTests {
    private static let body = Array("<soap/>".utf8)

    private func request(
        _ peer: PythonPeer, user: String = "admin", password: String, basic: Bool = false, scheme: String = "http"
    ) -> HTTPRequest {
        var request = HTTPRequest(
            method: .post, url: "\(scheme)://127.0.0.1:\(peer.port)/onvif/device_service?a=b", body: Self.body,
            connectTimeout: .seconds(60), totalTimeout: .seconds(60))
        request.digest = HTTPCredentials(user: user, password: password)
        request.allowsBasic = basic
        return request
    }

    private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test(arguments: ["MD5", "MD5-qop", "SHA-256", "SHA-256-qop"])
    func `a Digest challenge is answered, and the body sent whole both times`(challenge: String) async throws {
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: [challenge])
        let response = try await HTTPClient().send(request(peer, password: "secret"))
        #expect(response.status == 200)
        #expect(text(response) == "7 none;7 Digest")
        #expect(response.peerAddress == "127.0.0.1")
        #expect(response.pin == nil)
    }

    @Test(arguments: [
        #"p@:/#%?& w"x\"#, "", "pässwörd ☂", String(repeating: "0123456789", count: 13),
    ])
    func `any password logs in`(password: String) async throws {
        for challenge in ["MD5", "SHA-256-qop"] {
            let peer = try PythonPeer.login(user: #"us"er @1"#, password: password, challenges: [challenge])
            let response = try await HTTPClient().send(request(peer, user: #"us"er @1"#, password: password))
            #expect(response.status == 200, "\(challenge)")
        }
    }

    @Test func `a wrong password is tried once`() async throws {
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: ["SHA-256-qop"])
        let response = try await HTTPClient().send(request(peer, password: "other"))
        #expect(response.status == 401)
        #expect(text(response) == "7 none;7 Digest")
    }

    @Test func `without a challenge nothing is sent`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        var request = HTTPRequest(method: .post, url: server.url, body: [1, 2, 3])
        request.digest = HTTPCredentials(user: "admin", password: "secret")
        request.allowsBasic = true
        #expect(try await HTTPClient().send(request).status == 200)
        #expect(server.requests.map { $0.headers["authorization"] } == [nil])
        #expect(server.requests.map(\.body) == [[1, 2, 3]])
    }

    @Test func `a password never goes out in clear unless that is allowed`() async throws {
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: ["Basic"])
        let refused = try await HTTPClient().send(request(peer, password: "secret"))
        #expect(refused.status == 401)
        #expect(text(refused) == "7 none")
        let allowed = try await HTTPClient().send(request(peer, password: "secret", basic: true))
        #expect(allowed.status == 200)
        #expect(text(allowed) == "7 none;7 none;7 Basic")
    }

    @Test(arguments: [["Basic", "MD5"], ["SHA-256-qop", "Basic"], ["SHA-256", "MD5", "Basic"]])
    func `of several challenges Digest is answered`(challenges: [String]) async throws {
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: challenges)
        let response = try await HTTPClient().send(request(peer, password: "secret", basic: true))
        #expect(response.status == 200)
        #expect(text(response) == "7 none;7 Digest")
    }

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is not installed"))
    func `over TLS with an accepted certificate Basic is answered only where that is allowed`() async throws {
        let files = try CertificateFiles()
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: ["Basic"], tls: files)
        var request = request(peer, password: "secret", scheme: "https")
        request.trust = .pinned(files.pin)
        let refused = try await HTTPClient().send(request)
        #expect(refused.status == 401)
        #expect(text(refused) == "7 none")
        request.allowsBasic = true
        let allowed = try await HTTPClient().send(request)
        #expect(allowed.status == 200)
        #expect(text(allowed) == "7 none;7 none;7 Basic")
    }

    @Test func `a stream logs in as well`() async throws {
        let peer = try PythonPeer.login(user: "admin", password: "secret", challenges: ["MD5-qop"])
        var bytes: [UInt8] = []
        for try await chunk in HTTPClient().stream(request(peer, password: "secret")) { bytes += chunk }
        #expect(String(decoding: bytes, as: UTF8.self) == "7 none;7 Digest")
    }

    @Test func `credentials with a NUL are refused before anything is sent`() async {
        for credentials in [HTTPCredentials(user: "a\0", password: "b"), HTTPCredentials(user: "a", password: "b\0c")] {
            var request = HTTPRequest(url: "http://127.0.0.1:1/")
            request.digest = credentials
            await #expect(throws: HTTPClientError.invalidHeader(name: "Authorization")) {
                try await HTTPClient().send(request)
            }
        }
    }

    @Test func `credentials show neither name nor password`() {
        var request = HTTPRequest(url: "http://127.0.0.1/")
        request.digest = HTTPCredentials(user: "n4me", password: "s3cret")
        var dumped = ""
        dump(request, to: &dumped)
        for text in ["\(request)", "\(String(reflecting: request))", dumped, "\(request.digest!)"] {
            #expect(!text.contains("n4me") && !text.contains("s3cret"))
        }
    }
}
