import ControlAPI
import ControlClient
import ErrorCatalog
import Glibc
import HTTPClient
import PrometheusText
import Testing

@testable import APIServer

@Suite(.timeLimit(.minutes(15)))
struct APIServerTests {
    private static let get = " HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test func `an answer has its document, its length and nothing to guess`() async throws {
        let route = APIRoute(.get, "/api/v1/version", "Which version.") { _ in
            .document(VersionDocument(version: "1"), eTag: "\"7\"", location: "/api/v1/version")
        }
        try await RunningServer.with([route]) { server in
            let client = try server.connect()
            let answer = try #require(await client.exchange("GET /api/v1/version" + Self.get))
            #expect(answer.status == 200)
            #expect(answer.body == #"{"api":1,"schema":"watchbox.version/1","version":"1"}"#)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["content-length"] == "\(answer.body.utf8.count)")
            #expect(answer.headers["etag"] == "\"7\"")
            #expect(answer.headers["location"] == "/api/v1/version")
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.headers["transfer-encoding"] == nil)
            #expect(answer.headers["access-control-allow-origin"] == nil)
        }
    }

    @Test func `HEAD is GET without a body, and the connection goes on`() async throws {
        try await RunningServer.with([.simple(.get, "/a")]) { server in
            let client = try server.connect()
            await client.write("HEAD /a" + Self.get)
            let head = try #require(await client.read(until: "\r\n\r\n"))
            #expect(head.contains("200 OK") && head.lowercased().contains("content-length: 6\r\n"))
            #expect(await client.exchange("GET /a" + Self.get)?.body == "GET /a")
        }
    }

    @Test func `the handler gets method, path, parameters, query, body, tag and peer`() async throws {
        let route = APIRoute(.patch, "/api/v1/cameras/{id}", "Changes.") { request in
            #expect(request.peer.processIdentifier == getpid())
            #expect(request.peer.userIdentifier == geteuid())
            #expect(request.peer.isAdministrator)
            let parts = [
                request.method.rawValue, request.path, request.parameters["id"] ?? "", request.query["x"] ?? "",
                String(decoding: request.body, as: UTF8.self), request.ifMatch ?? "",
            ]
            return .document(parts)
        }
        try await RunningServer.with([route]) { server in
            let answer = try await server.client.send(
                .patch, APIPath.cameras("a b"), body: ["k": "v"], query: [("x", "1&2 ü")],
                ifMatch: "\"3\"", as: [String].self)
            #expect(
                answer == ["PATCH", "/api/v1/cameras/a b", "a b", "1&2 ü", #"{"k":"v"}"#, "\"3\""])
        }
    }

    @Test func `errors are problem documents, whoever makes them`() async throws {
        let routes: [APIRoute] = [
            APIRoute(.get, "/conflict", "") { _ in throw CodedError(.conflict, "the camera front has changed") },
            APIRoute(.get, "/fault", "") { _ in throw CancellationError() }, .simple(.get, "/only"),
        ]
        try await RunningServer.with(routes) { server in
            let client = try server.connect()
            for (line, status, code) in [
                ("GET /conflict", 412, ErrorCode.conflict), ("GET /fault", 409, .busy), ("GET /none", 404, .notFound),
                ("POST /only", 405, .badRequest), ("OPTIONS /only", 405, .badRequest),
                ("TRACE /only", 405, .badRequest),
                ("GET /a%00b", 400, .badRequest), ("GET /%2e%2e/only", 400, .badRequest),
                ("GET /%FF", 400, .badRequest),
            ] {
                let answer = try #require(await client.exchange(line + Self.get), "\(line)")
                #expect(answer.status == status, "\(line)")
                #expect(answer.headers["content-type"] == "application/problem+json", "\(line)")
                let problem = try JSONDocument.decode(Problem.self, from: Array(answer.body.utf8))
                #expect(problem.status == status && problem.code == code && !problem.hint.isEmpty, "\(line)")
            }
        }
    }

    @Test func `an answer without a document says so, and the connection goes on`() async throws {
        let route = APIRoute(.delete, "/x", "") { _ in .noContent }
        try await RunningServer.with([route]) { server in
            let client = try server.connect()
            for _ in 0..<3 { #expect(await client.exchange("DELETE /x" + Self.get)?.status == 204) }
            try await server.client.send(.delete, "/x")
        }
    }

    @Test func `bytes, text and metrics keep their type`() async throws {
        let routes: [APIRoute] = [
            APIRoute(.get, "/b", "") { _ in APIResponse(body: .bytes([0, 255, 10], type: "image/png")) },
            APIRoute(.get, "/metrics", "") { _ in APIResponse(body: .text("a 1\n", type: MetricFamily.mediaType)) },
        ]
        try await RunningServer.with(routes) { server in
            let bytes = try await HTTPClient().send(
                HTTPRequest(url: "http://x/b", totalTimeout: .seconds(60), unixSocketPath: server.path))
            #expect(bytes.body == [0, 255, 10] && bytes.header("content-type") == "image/png")
            #expect(try await server.client.text("/metrics") == "a 1\n")
        }
    }

    @Test func `an answer of several megabytes arrives whole`() async throws {
        let text = String((0..<400_000).map { "line \($0)\n" }.joined())
        let route = APIRoute(.get, "/big", "") { _ in APIResponse(body: .text(text, type: "text/plain")) }
        try await RunningServer.with([route]) { server in
            let received = try await server.client.text("/big")
            #expect(received == text)
        }
    }

    @Test func `a body of the largest size is taken, one byte more is refused with the reason`() async throws {
        let route = APIRoute(.post, "/x", "") { .document($0.body.count) }
        try await RunningServer.with([route]) { server in
            let client = HTTPClient()
            func post(_ count: Int) async throws -> HTTPResponse {
                try await client.send(
                    HTTPRequest(
                        method: .post, url: "http://x/x", body: [UInt8](repeating: 7, count: count),
                        totalTimeout: .seconds(60), unixSocketPath: server.path))
            }
            #expect(try await post(1 << 20).body == Array("1048576".utf8))
            let refused = try await post(1 << 20 + 1)
            #expect(refused.status == 413)
            #expect(try JSONDocument.decode(Problem.self, from: refused.body).code == .tooMuch)
        }
    }

    @Test func `a client that asks first is told to go on`() async throws {
        let route = APIRoute(.post, "/x", "") { .document($0.body.count) }
        try await RunningServer.with([route]) { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(await client.read(until: "\r\n\r\n")?.hasPrefix("HTTP/1.1 100 ") == true)
            #expect(await client.exchange("ab")?.body == "2")
            await client.write(
                "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\nExpect: 100-continue\r\n\r\n")
            #expect(await client.answer()?.status == 413)
        }
    }

    @Test func `a handler that takes too long is cancelled, and the client notified`() async throws {
        let (cancelled, continuation) = AsyncStream<Void>.makeStream()
        let route = APIRoute(.get, "/slow", "") { _ in
            let (never, hold) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(hold) {}
            continuation.yield()
            return .noContent
        }
        try await RunningServer.with([route, .simple(.get, "/a")]) {
            $0.requestTimeout = .milliseconds(50)
        } _: { server in
            let client = try server.connect()
            #expect(await client.exchange("GET /slow" + Self.get)?.status == 504)
            var iterator = cancelled.makeAsyncIterator()
            _ = await iterator.next(isolation: nil)
        }
    }

    @Test func `over TCP metrics are served and nothing else, to any client`() async throws {
        let routes: [APIRoute] = [
            APIRoute(.get, "/metrics", "") { request in
                #expect(!request.peer.isAdministrator)
                return APIResponse(body: .text("a 1\n", type: MetricFamily.mediaType))
            },
            .simple(.get, "/api/v1/status"), .simple(.post, "/metrics"),
        ]
        try await RunningServer.with(routes, listener: .tcp(host: "127.0.0.1", port: 0)) { server in
            let client = HTTPClient()
            func status(_ method: HTTPRequest.Method, _ path: String) async throws -> Int {
                try await client.send(
                    HTTPRequest(method: method, url: "http://\(server.address)\(path)", totalTimeout: .seconds(60))
                ).status
            }
            let statuses = [
                try await status(.get, "/metrics"), try await status(.get, "/api/v1/status"),
                try await status(.post, "/metrics"),
            ]
            #expect(statuses == [200, 404, 404])
        }
    }

    @Test func `a shutdown ends idle connections and waits for an open request`() async throws {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let (leave, release) = AsyncStream<Void>.makeStream()
        let route = APIRoute(.get, "/slow", "") { _ in
            enter.yield()
            for await _ in leave { break }
            return APIResponse(body: .text("done", type: "text/plain"))
        }
        try await RunningServer.with([route, .simple(.get, "/a")]) { server in
            let idle = try server.connect()
            #expect(await idle.exchange("GET /a" + Self.get)?.status == 200)
            let open = try server.connect()
            await open.write("GET /slow" + Self.get)
            var iterator = entered.makeAsyncIterator()
            _ = await iterator.next(isolation: nil)
            await server.stop()
            #expect(await idle.readToEnd() == "")
            release.yield()
            #expect(await open.answer()?.body == "done")
            #expect(await open.readToEnd() == "")
        }
    }

    @Test func `the grace of a shutdown ends`() async throws {
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let route = APIRoute(.get, "/slow", "") { _ in
            enter.yield()
            let (never, hold) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(hold) {}
            return .noContent
        }
        try await RunningServer.with([route]) {
            $0.shutdownGrace = .milliseconds(20)
        } _: { server in
            let client = try server.connect()
            await client.write("GET /slow" + Self.get)
            var iterator = entered.makeAsyncIterator()
            _ = await iterator.next(isolation: nil)
            await server.stop()
            _ = await client.readToEnd()
        }
    }
}
