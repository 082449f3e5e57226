import Glibc
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(15)))
struct HTTPClientErrorTests {
    private func failure(
        _ request: HTTPRequest, _ configuration: HTTPClient.Configuration = .init()
    ) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await HTTPClient(configuration: configuration).send(request)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "http://example.com/", "http://10.0.0.1/", "http://127.0.0.1.example.com/", "http://localhost.example.com",
        "http://[::2]/", "http://128.0.0.1/", "http://0.0.0.0/", "HTTP://example.com/",
    ])
    func `plain HTTP goes to this machine only`(url: String) async {
        guard case .plainHTTPRefused = await failure(HTTPRequest(url: url)) else {
            Issue.record("\(url) was not refused")
            return
        }
    }

    @Test(arguments: ["127.0.0.1", "127.255.255.254", "localhost", "LOCALHOST", "::1"])
    func `these hosts are this machine`(host: String) {
        #expect(TargetURL.isLoopback(host))
    }

    @Test(arguments: [
        "127.0.0", "127.0.0.1.", "127.0.0.256", "127.0.0.+1", "127.0.0.", "126.0.0.1", "::2", "", "local",
    ])
    func `these are not`(host: String) {
        #expect(!TargetURL.isLoopback(host))
    }

    @Test(arguments: [
        "", "not a url", "ftp://127.0.0.1/", "file:///etc/passwd", "https://", "https://user@kas.example/",
        "https://user:secret@kas.example/", "https://kas.example:99999/", "https://kas.example/a\0b",
    ])
    func `an invalid URL is refused, without repeating it`(url: String) async {
        let error = await failure(HTTPRequest(url: url))
        guard case .invalidURL = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("secret") == false)
        #expect(error?.isTransient == false)
    }

    @Test func `a URL of more than 8192 bytes is refused`() async {
        let url = "https://kas.example/" + String(repeating: "a", count: 8192)
        #expect(await failure(HTTPRequest(url: url)) == .invalidURL(reason: "longer than 8192 bytes"))
    }

    @Test(arguments: [
        HTTPHeader("A", "b\r\nC: d"), HTTPHeader("A", "b\nC: d"), HTTPHeader("A", "b\0"), HTTPHeader("", "b"),
        HTTPHeader("A: b", "c"), HTTPHeader("A\r\nB", "c"),
    ])
    func `a header that would be two is refused`(header: HTTPHeader) async {
        guard case .invalidHeader = await failure(HTTPRequest(url: "http://127.0.0.1:1/", headers: [header])) else {
            Issue.record("\(header.name) was accepted")
            return
        }
    }

    @Test func `nothing listens`() async {
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        let error = await failure(HTTPRequest(url: "http://127.0.0.1:\(port)/"))
        #expect(error == .unreachable(host: "127.0.0.1", reason: "Couldn't connect to server"))
        #expect(error?.isTransient == true)
    }

    @Test func `a name without an address`() async {
        guard case .unreachable(let host, _) = await failure(HTTPRequest(url: "https://kas.invalid/")) else {
            Issue.record("it has one")
            return
        }
        #expect(host == "kas.invalid")
    }

    @Test func `a server that never answers is left at the deadline`() async {
        let server = StandInServer { _ in .silence(after: []) }
        defer { server.stop() }
        let error = await failure(HTTPRequest(url: server.url, totalTimeout: .milliseconds(150)))
        #expect(error == .timedOut(host: "127.0.0.1", after: .milliseconds(150)))
        #expect(error?.description == "no complete answer from 127.0.0.1 within 0.1 s")
    }

    @Test func `a server that stops in the middle of its answer is left at the deadline`() async {
        let part = Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8)
        let server = StandInServer { _ in .silence(after: part) }
        defer { server.stop() }
        let error = await failure(HTTPRequest(url: server.url, totalTimeout: .milliseconds(150)))
        #expect(error == .timedOut(host: "127.0.0.1", after: .milliseconds(150)))
    }

    @Test(arguments: [
        "", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ])
    func `a connection that ends too early is an error`(reply: String) async {
        let server = StandInServer { _ in .last(Array(reply.utf8)) }
        defer { server.stop() }
        guard case .connectionLost(let host, _) = await failure(HTTPRequest(url: server.url)) else {
            Issue.record("accepted")
            return
        }
        #expect(host == "127.0.0.1")
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{1}\u{2}garbage\r\n\r\n", "HTTP/9.7 abc\r\n\r\n"])
    func `what is not HTTP is an error`(reply: String) async {
        let server = StandInServer { _ in .last(Array(reply.utf8)) }
        defer { server.stop() }
        guard case .malformedResponse = await failure(HTTPRequest(url: server.url)) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [true, false])
    func `a body over the limit is not taken, announced or not`(announced: Bool) async throws {
        let body = String(repeating: "x", count: 1001)
        let server = StandInServer { _ in
            announced
                ? .bytes(StandInServer.answer(200, body)) : .last(Array(("HTTP/1.1 200 OK\r\n\r\n" + body).utf8))
        }
        defer { server.stop() }
        #expect(
            await failure(HTTPRequest(url: server.url, maximumResponseBytes: 1000))
                == .responseTooLarge(host: "127.0.0.1", limit: 1000))
        #expect(
            try await HTTPClient().send(HTTPRequest(url: server.url, maximumResponseBytes: 1001)).body.count == 1001)
        #expect(
            await failure(HTTPRequest(url: server.url, maximumResponseBytes: .min))
                == .responseTooLarge(host: "127.0.0.1", limit: .min))
    }

    @Test func `endless headers are not taken`() async {
        let line = "X-Header: " + String(repeating: "y", count: 1000) + "\r\n"
        let server = StandInServer { _ in
            .last(Array(("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 200) + "\r\n").utf8))
        }
        defer { server.stop() }
        guard case .responseTooLarge = await failure(HTTPRequest(url: server.url)) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `a request too many is refused, and a cancelled one makes room`() async throws {
        let server = StandInServer { request in
            request.line.contains("/slow") ? .silence(after: []) : .bytes(StandInServer.answer(200, ""))
        }
        defer { server.stop() }
        let client = HTTPClient(configuration: .init(maximumRequests: 1))
        let first = Task { try await client.send(HTTPRequest(url: server.url + "/slow", totalTimeout: .seconds(50))) }
        while server.requests.isEmpty { await Task.yield() }
        await #expect(throws: HTTPClientError.tooManyRequests(limit: 1)) {
            try await client.send(HTTPRequest(url: server.url))
        }
        first.cancel()
        #expect(await first.result.failure as? HTTPClientError == .cancelled)
        while server.left == 0 { await Task.yield() }
        #expect(try await client.send(HTTPRequest(url: server.url)).status == 200)
    }

    @Test func `a task that is cancelled already sends nothing`() async {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let client = HTTPClient()
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in started {}  // ends by cancellation
            return try await client.send(HTTPRequest(url: server.url))
        }
        task.cancel()
        #expect(await task.result.failure as? HTTPClientError == .cancelled)
        #expect(server.requests.isEmpty)
        signal.finish()
    }

    @Test(arguments: UInt64(0)..<32)
    func `random answers never trap`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        var reply = StandInServer.answer(200, "{\"public_key\":\"x\"}", headers: ["ETag: \"1\""])
        for _ in 0..<8 {
            reply[Int.random(in: 0..<reply.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        }
        let bytes = reply
        let server = StandInServer { _ in .last(bytes) }
        defer { server.stop() }
        let error = await failure(HTTPRequest(url: server.url, totalTimeout: .seconds(5)))
        #expect(error?.description != "")
    }
}
