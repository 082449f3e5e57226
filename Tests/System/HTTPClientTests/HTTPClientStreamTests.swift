import Testing

@testable import HTTPClient

@Suite(.timeLimit(.minutes(15)))
struct HTTPClientStreamTests {
    private static func head(_ status: Int = 200) -> [UInt8] {
        Array("HTTP/1.1 \(status) Text\r\nConnection: close\r\n\r\n".utf8)
    }

    @Test func `a body is read as it comes, before it has ended`() async throws {
        let server = StandInServer { _ in .silence(after: Self.head() + Array("first".utf8)) }
        defer { server.stop() }
        var body: [UInt8] = []
        for try await piece in HTTPClient().stream(HTTPRequest(url: server.url, totalTimeout: .seconds(60))) {
            body += piece
            if body == Array("first".utf8) { break }
        }
        while server.left == 0 { await Task.yield() }
    }

    @Test func `a body longer than any buffer arrives whole and in order`() async throws {
        let sent = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let server = StandInServer { _ in .last(Self.head() + sent) }
        defer { server.stop() }
        // Its limit is for answers that refuse.
        let request = HTTPRequest(url: server.url, totalTimeout: .seconds(60), maximumResponseBytes: 10)
        var body: [UInt8] = []
        for try await piece in HTTPClient().stream(request) { body += piece }
        #expect(body == sent)
    }

    @Test func `what is not read is not fetched`() async throws {
        let client = HTTPClient()
        let body = BodyStream()
        let piece = [UInt8](repeating: 1, count: 10_000)
        var taken = 0
        while piece.withUnsafeBytes({ body.offer($0) }) { taken += piece.count }
        #expect(taken <= BodyStream.capacity && taken > BodyStream.capacity - 2 * piece.count)
        // Full: it is asked for again once, when everything was read.
        #expect(!body.takeResumption())
        var resumptions = 0
        var read = 0
        while read < taken {
            read += try await body.next { resumptions += 1 }?.count ?? 0
            #expect(resumptions == (read == taken ? 1 : 0))
        }
        #expect(body.takeResumption())
        #expect(!body.takeResumption())
        withExtendedLifetime(client) {}
    }

    @Test func `another status is an error with the whole answer`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(403, "no", headers: ["X-A: 1"])) }
        defer { server.stop() }
        await #expect {
            for try await _ in HTTPClient().stream(HTTPRequest(url: server.url, totalTimeout: .seconds(60))) {
                Issue.record("a piece")
            }
        } throws: { error in
            guard let error = error as? HTTPStatusError else { return false }
            return error.response.status == 403 && error.response.body == Array("no".utf8)
                && error.response.header("x-a") == "1" && !"\(error)".contains("no")
        }
    }

    @Test func `an answer that refuses at length is cut off`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(500, String(repeating: "x", count: 1000))) }
        defer { server.stop() }
        await #expect(throws: HTTPClientError.responseTooLarge(host: "127.0.0.1", limit: 999)) {
            for try await _ in HTTPClient().stream(
                HTTPRequest(url: server.url, totalTimeout: .seconds(60), maximumResponseBytes: 999))
            {}
        }
    }

    @Test func `a server that is silent is given up`() async throws {
        let server = StandInServer { _ in .silence(after: Self.head() + [1]) }
        defer { server.stop() }
        await #expect(throws: HTTPClientError.timedOut(host: "127.0.0.1", after: .seconds(1))) {
            for try await piece in HTTPClient().stream(HTTPRequest(url: server.url, totalTimeout: .seconds(1))) {
                #expect(piece == [1])
            }
        }
    }

    @Test func `a connection that breaks is reported after what came`() async throws {
        let server = StandInServer { _ in
            .last(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".utf8))
        }
        defer { server.stop() }
        var body: [UInt8] = []
        do {
            for try await piece in HTTPClient().stream(HTTPRequest(url: server.url, totalTimeout: .seconds(60))) {
                body += piece
            }
            Issue.record("it ended as if it were whole")
        } catch let error as HTTPClientError {
            guard case .connectionLost = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(body == Array("abc".utf8))
    }

    @Test func `a cancelled reader ends the connection`() async throws {
        let server = StandInServer { _ in .silence(after: Self.head() + [1]) }
        defer { server.stop() }
        let (started, start) = AsyncStream<Void>.makeStream()
        let request = HTTPRequest(url: server.url, totalTimeout: .seconds(60))
        let reader = Task {
            for try await _ in HTTPClient().stream(request) { start.yield() }
        }
        for await _ in started { break }
        reader.cancel()
        _ = await reader.result
        while server.left == 0 { await Task.yield() }
    }

    @Test func `a stream that is not read ends with its last holder`() async throws {
        let server = StandInServer { _ in .silence(after: Self.head()) }
        defer { server.stop() }
        let client = HTTPClient()
        var stream: AsyncThrowingStream? = client.stream(HTTPRequest(url: server.url, totalTimeout: .seconds(60)))
        while server.requests.isEmpty { await Task.yield() }
        withExtendedLifetime(stream) {}
        stream = nil
        while server.left == 0 { await Task.yield() }
    }

    @Test func `what cannot be sent is thrown from the stream`() async {
        await #expect(throws: HTTPClientError.plainHTTPRefused(host: "example.com")) {
            for try await _ in HTTPClient().stream(HTTPRequest(url: "http://example.com/")) {}
        }
    }

    @Test func `PATCH has a body`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        _ = try await HTTPClient().send(
            HTTPRequest(method: .patch, url: server.url, body: [1, 0, 2], totalTimeout: .seconds(60)))
        #expect(server.requests.first?.line == "PATCH / HTTP/1.1")
        #expect(server.requests.first?.body == [1, 0, 2])
    }
}
