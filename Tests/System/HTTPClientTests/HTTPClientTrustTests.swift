import TestSupport
import Testing

@testable import HTTPClient

/// Cameras' certificates: signed by themselves, for another name. Against `python3 -m ssl` with keys of `openssl`.
@Suite(
    .ownThread, .timeLimit(.minutes(15)),
    .enabled(if: CertificateFiles.isInstalled, "python3 or openssl is not installed"))
struct HTTPClientTrustTests {
    private func request(_ peer: PythonPeer, _ trust: HTTPTrust) -> HTTPRequest {
        var request = HTTPRequest(
            url: "https://127.0.0.1:\(peer.port)/", connectTimeout: .seconds(60), totalTimeout: .seconds(60))
        request.trust = trust
        return request
    }

    private func failure(_ request: HTTPRequest) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await HTTPClient().send(request)
            return nil
        } catch {
            return error
        }
    }

    /// Answers every request with 401 and the number of requests so far.
    private func peer(_ files: CertificateFiles) throws -> PythonPeer {
        try PythonPeer.login(user: "-", password: "-", challenges: ["MD5"], tls: files)
    }

    @Test(arguments: [
        ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"], ["rsa:2048", "-sha512"],
        ["ec", "-pkeyopt", "ec_paramgen_curve:secp384r1"],
    ])
    func `the first answer reports the pin, and the pin is accepted after that`(kind: [String]) async throws {
        let files = try CertificateFiles(kind)
        let peer = try peer(files)
        let client = HTTPClient()
        for _ in 0..<2 {
            let first = try await client.send(request(peer, .firstUse))
            #expect(first.pin == files.pin)
            #expect(first.peerAddress == "127.0.0.1")
        }
        for count in 3...5 {
            let hint = try await client.send(request(peer, .pinned(files.pin)))
            #expect(hint.pin == files.pin)
            #expect(hint.body == Array(repeatElement("0 none", count: count).joined(separator: ";").utf8))
        }
    }

    @Test func `another key is a mismatch, and nothing was sent to it`() async throws {
        let files = try CertificateFiles()
        let other = try CertificateFiles()
        let peer = try peer(files)
        var wrong = request(peer, .pinned(other.pin))
        wrong.digest = HTTPCredentials(user: "admin", password: "secret")
        let error = await failure(wrong)
        #expect(error == .pinMismatch(host: "127.0.0.1"))
        #expect(error?.isPinMismatch == true)
        #expect(error?.isTransient == false)
        #expect(error?.description.contains("is not the one that was accepted") == true)
        #expect(error?.hint.contains("accept the new one") == true)
        // A connection made under the right pin does not serve another.
        let client = HTTPClient()
        #expect(try await client.send(request(peer, .pinned(files.pin))).body == Array("0 none".utf8))
        await #expect(throws: HTTPClientError.pinMismatch(host: "127.0.0.1")) { try await client.send(wrong) }
        #expect(try await client.send(request(peer, .pinned(files.pin))).body == Array("0 none;0 none".utf8))
    }

    @Test func `without a pin such a certificate is refused`() async throws {
        let peer = try peer(try CertificateFiles())
        let error = await failure(request(peer, .system))
        guard case .tlsFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.isPinMismatch == false)
        #expect(error?.isTransient == true)
    }

    @Test(arguments: [
        "", "sha256//", "sha256//AAAA", "/etc/passwd", "sha1//AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;sha256//BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA;;",
    ])
    func `an invalid pin is refused before connecting`(pin: String) async {
        var request = HTTPRequest(url: "https://127.0.0.1:1/")
        request.trust = .pinned(pin)
        let error = await failure(request)
        #expect(error == .tlsFailed(host: "127.0.0.1", reason: "the stored pin does not have the form sha256//BASE64"))
        #expect(error?.isTransient == false)
    }

    @Test(arguments: [false, true])
    func `credentials do not go to a certificate that was not accepted`(allowsBasic: Bool) async {
        var request = HTTPRequest(url: "https://127.0.0.1:1/")
        request.allowsBasic = allowsBasic
        request.trust = .firstUse
        request.digest = HTTPCredentials(user: "admin", password: "secret")
        let error = await failure(request)
        guard case .tlsFailed = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("credentials are not sent") == true)
        #expect(error?.isTransient == false)
    }

    @Test func `over plain HTTP there is no pin`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url)
        request.trust = .firstUse
        let response = try await HTTPClient().send(request)
        #expect(response.status == 200)
        #expect(response.pin == nil)
        #expect(response.peerAddress == "127.0.0.1")
    }

    @Test func `a Unix socket has no address`() async throws {
        let path = "/tmp/trust-\(UInt64.random(in: 0 ..< .max)).sock"
        let server = StandInServer(unixSocketPath: path) { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let response = try await HTTPClient().send(HTTPRequest(url: "http://box/", unixSocketPath: path))
        #expect(response.peerAddress == nil)
    }
}
