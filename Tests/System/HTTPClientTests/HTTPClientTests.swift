import Glibc
import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(15)))
struct HTTPClientTests {
    @Test func `status, headers and body come back as sent`() async throws {
        let server = StandInServer { request in
            .bytes(
                StandInServer.answer(
                    404, "not here", headers: ["ETag:  \"a b\" ", "X-Twice: 1", "x-twice: 2", "X-Empty:"]))
        }
        defer { server.stop() }
        let response = try await HTTPClient().send(HTTPRequest(url: server.url + "/where?x=1"))
        #expect(response.status == 404)
        #expect(response.body == Array("not here".utf8))
        #expect(response.header("etag") == "\"a b\"")
        #expect(response.header("X-TWICE") == "1")
        #expect(response.header("x-empty") == "")
        #expect(response.header("x-none") == nil)
        #expect(server.requests.first?.line == "GET /where?x=1 HTTP/1.1")
    }

    @Test func `method, headers and a body with a NUL are sent as given`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let client = HTTPClient()
        let headers = [HTTPHeader("Authorization", "Bearer abc"), HTTPHeader("X-Empty", "")]
        _ = try await client.send(
            HTTPRequest(method: .post, url: server.url, headers: headers, body: [0, 1, 0, 255]))
        _ = try await client.send(HTTPRequest(method: .post, url: server.url))
        _ = try await client.send(HTTPRequest(method: .delete, url: server.url))
        _ = try await client.send(HTTPRequest(method: .put, url: server.url, body: [7]))
        let requests = server.requests
        #expect(requests.map(\.line) == ["POST", "POST", "DELETE", "PUT"].map { "\($0) / HTTP/1.1" })
        #expect(requests.map(\.body) == [[0, 1, 0, 255], [], [], [7]])
        #expect(requests[0].headers["authorization"] == "Bearer abc")
        #expect(requests[0].headers["x-empty"] == "")
        #expect(requests[0].headers["expect"] == nil)
    }

    @Test func `of an answer that is too long the beginning is enough for those who want no more`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(503, String(repeating: "x", count: 100_000))) }
        defer { server.stop() }
        let request = HTTPRequest(url: server.url, maximumResponseBytes: 4096)
        await #expect(throws: HTTPClientError.responseTooLarge(host: "127.0.0.1", limit: 4096)) {
            try await HTTPClient().send(request)
        }
        var patient = request
        patient.takesBeginning = true
        let response = try await HTTPClient().send(patient)
        #expect(response.status == 503)
        #expect(response.body == [UInt8](repeating: UInt8(ascii: "x"), count: 4096))
    }

    @Test func `requests after one another share a connection, requests at once do not wait for each other`()
        async throws
    {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let client = HTTPClient()
        for _ in 0..<5 { _ = try await client.send(HTTPRequest(url: server.url)) }
        #expect(Set(server.requests.map(\.connection)) == [1])

        let slow = StandInServer { request in
            request.line.contains("/slow") ? .silence(after: []) : .bytes(StandInServer.answer(200, ""))
        }
        defer { slow.stop() }
        let waiting = Task { try await client.send(HTTPRequest(url: slow.url + "/slow", totalTimeout: .seconds(40))) }
        #expect(try await client.send(HTTPRequest(url: slow.url + "/fast")).status == 200)
        waiting.cancel()
        #expect(await waiting.result.failure as? HTTPClientError == .cancelled)
    }

    @Test(arguments: [301, 302, 307, 308])
    func `a redirect is an answer and is not followed`(status: Int) async throws {
        let server = StandInServer { _ in
            .bytes(StandInServer.answer(status, "", headers: ["Location: /elsewhere"]))
        }
        defer { server.stop() }
        #expect(try await HTTPClient().send(HTTPRequest(url: server.url)).status == status)
        #expect(server.requests.count == 1)
    }

    @Test func `the headers of an interim answer are not those of the answer`() async throws {
        let server = StandInServer { _ in
            .bytes(Array("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n".utf8) + StandInServer.answer(200, "x"))
        }
        defer { server.stop() }
        let response = try await HTTPClient().send(HTTPRequest(url: server.url))
        #expect(response.status == 200)
        #expect(response.header("X-Early") == nil)
    }

    @Test func `a Unix socket is reached, plain HTTP and any host name included`() async throws {
        let path = "/tmp/http-client-\(UInt64.random(in: 0 ..< .max)).sock"
        let server = StandInServer(unixSocketPath: path) { _ in .bytes(StandInServer.answer(200, "local")) }
        defer {
            server.stop()
            unlink(path)
        }
        let response = try await HTTPClient().send(HTTPRequest(url: "http://watchbox/status", unixSocketPath: path))
        #expect(response.body == Array("local".utf8))
        #expect(server.requests.first?.headers["host"] == "watchbox")
    }

    @Test func `the thread begins with the first request, ends when idle, and begins again`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let client = HTTPClient(configuration: .init(idleTime: .milliseconds(20)))
        #expect(!client.isRunning)
        for round in 1...3 {
            #expect(try await client.send(HTTPRequest(url: server.url)).status == 200)
            while client.isRunning || server.left < round { await Task.yield() }
        }
        #expect(server.accepted == 3)
    }

    @Test func `a client that goes away ends its connections`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        var client: HTTPClient? = HTTPClient(configuration: .init(idleTime: .seconds(3600)))
        _ = try await client?.send(HTTPRequest(url: server.url))
        client = nil
        while server.left == 0 { await Task.yield() }
    }

    @Test func `many requests at once all get their own answer`() async throws {
        let server = StandInServer { request in
            .bytes(StandInServer.answer(200, String(request.line.split(separator: " ")[1])))
        }
        defer { server.stop() }
        let client = HTTPClient()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<48 {
                group.addTask {
                    let response = try await client.send(HTTPRequest(url: server.url + "/\(number)"))
                    #expect(response.body == Array("/\(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 48)
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
