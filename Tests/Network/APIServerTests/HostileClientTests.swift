import ControlAPI
import ControlClient
import TestSupport
import Testing

@testable import APIServer

/// What a client may send instead of a request. Afterwards the server answers as before.
@Suite(.timeLimit(.minutes(15)))
struct HostileClientTests {
    private static let routes: [APIRoute] = [
        .simple(.get, "/a"), APIRoute(.post, "/x", "") { .document($0.body.count) },
    ]

    private func check(_ server: RunningServer) async throws {
        #expect(try await server.client.text("/a") == "GET /a")
    }

    @Test(arguments: [
        "\r\n\r\n\r\nNONSENSE\r\n\r\n", "GET /a\r\n\r\n", "GET /a HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\u{3}",
        "GET /a HTTP/1.1\r\nHost : x\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\r\nBad Name: 1\r\n\r\n",
        "GET /a HTTP/1.1\r\nX: a\u{0}b\r\n\r\n", "POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
        "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "CONNECT x:1 HTTP/1.1\r\n\r\n",
    ])
    func `what is not a request ends the connection, with 4xx at most`(text: String) async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            await client.write(text)
            client.endOutput()
            let answer = await client.readToEnd()
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"), "\(answer)")
            try await check(server)
        }
    }

    @Test func `headers end at 16 KiB and at 100, and so does a path`() async throws {
        try await RunningServer.with(Self.routes) { server in
            func answer(_ text: String) async throws -> String {
                let client = try server.connect()
                async let sent = client.write(text)
                let answer = await client.readToEnd()
                client.end()
                _ = await sent
                return String(answer.prefix(12))
            }
            let closing = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            let ok = "HTTP/1.1 200"
            let few = (0..<97).map { "X-\($0): 1\r\n" }.joined()
            let many = (0..<10_000).map { "X-\($0): 1\r\n" }.joined()
            let long = { (count: Int) in "X: " + String(repeating: "a", count: count) + "\r\n" }
            let client = try server.connect()
            await client.write(closing + few + long(8000) + "\r\n")
            #expect(await client.answer()?.status == 200)
            #expect(try await answer(closing + many + "\r\n") != ok)
            #expect(try await answer(closing + long(20_000) + "\r\n") != ok)
            #expect(try await answer(closing + long(10_000_000) + "\r\n") != ok)
            #expect(try await answer("GET /" + String(repeating: "a", count: 20_000) + " HTTP/1.1\r\n\r\n") != ok)
            #expect(try await answer(String(repeating: "G", count: 100_000)) != ok)
            try await check(server)
        }
    }

    @Test func `a body that is announced too long is refused before it comes`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n")
            let answer = try #require(await client.answer())
            #expect(answer.status == 413)
            #expect(answer.headers["connection"] == "close")
            client.endOutput()
            #expect(await client.readToEnd() == "")
            try await check(server)
        }
    }

    @Test func `a chunked body without an end is cut off at its limit`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "c", count: 0x10000) + "\r\n"
            async let answer = client.answer()
            while await client.write(chunk) {}
            #expect(await answer?.status == 413)
            try await check(server)
        }
    }

    @Test func `a body that does not come ends with 408`() async throws {
        try await RunningServer.with(Self.routes) {
            $0.requestTimeout = .milliseconds(50)
        } _: { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
            #expect(await client.answer()?.status == 408)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test func `a body that is shorter than announced is not a request`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
            client.endOutput()
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 4"))
            try await check(server)
        }
    }

    @Test func `what is longer than announced is the next request, which it is not`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            await client.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcdefg\r\n\r\n")
            #expect(await client.answer()?.body == "3")
            #expect(await client.readToEnd().hasPrefix("HTTP/1.1 400"))
            try await check(server)
        }
    }

    @Test(arguments: ["", "G", "GET /a HTTP/1.1\r\nX-Slow: "])
    func `a request that does not come ends the connection`(start: String) async throws {
        try await RunningServer.with(Self.routes) {
            $0.headerTimeout = .milliseconds(50)
            $0.idleTimeout = start.isEmpty ? .milliseconds(50) : .seconds(3600)
        } _: { server in
            let client = try server.connect()
            await client.write(start)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test func `a request that comes a byte at a time is late from its first byte`() async throws {
        try await RunningServer.with(Self.routes) {
            $0.headerTimeout = .milliseconds(100)
            $0.idleTimeout = .seconds(3600)
        } _: { server in
            let client = try server.connect()
            await client.write("GET /a HTTP/1.1\r\nX-Slow: ")
            while await client.write("a") {}
        }
    }

    @Test func `after an answer a connection may be silent for the idle time, and no longer`() async throws {
        try await RunningServer.with(Self.routes) {
            $0.idleTimeout = .seconds(1)
        } _: { server in
            let client = try server.connect()
            #expect(await client.exchange("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")?.status == 200)
            #expect(await client.readToEnd() == "")
        }
    }

    @Test func `requests in one piece are answered one after the other`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let client = try server.connect()
            let count = 200
            var text = ""
            for number in 0..<count {
                let body = String(repeating: "b", count: number)
                text += "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: \(number)\r\n\r\n" + body
            }
            async let sent = client.write(text)
            for number in 0..<count { #expect(await client.answer()?.body == "\(number)") }
            #expect(await sent)
        }
    }

    @Test func `who asks without reading the answers is not read for ever`() async throws {
        let route = APIRoute(.get, "/big", "") { _ in
            APIResponse(body: .bytes([UInt8](repeating: 65, count: 200_000), type: "text/plain"))
        }
        try await RunningServer.with([route] + Self.routes) {
            $0.writeTimeout = .milliseconds(200)
        } _: { server in
            let client = try server.connect()
            while await client.write("GET /big HTTP/1.1\r\nHost: x\r\n\r\n") {}
        }
    }

    @Test func `one connection too many is told why, and many too many are closed`() async throws {
        try await RunningServer.with(Self.routes) {
            $0.maximumConnections = 4
        } _: { server in
            let request = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
            var admitted: [RawClient] = []
            for _ in 0..<4 {
                let client = try server.connect()
                #expect(await client.exchange(request)?.status == 200)
                admitted.append(client)
            }
            let refused = try server.connect()
            let answer = try #require(await refused.exchange(request))
            #expect(answer.status == 503 && answer.headers["content-type"] == "application/problem+json")

            var flood: [RawClient] = []
            for _ in 0..<64 { flood.append(try server.connect()) }
            // Some are told why, those beyond twice the limit are closed; none is served, none is kept.
            for client in flood {
                await client.write(request)
                let answer = await client.readToEnd()
                #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 503"))
            }
            #expect(await admitted[0].exchange(request)?.status == 200)
            flood = []
            admitted = []
            var isAdmitted = false
            while !isAdmitted {
                isAdmitted = try await server.connect().exchange(request)?.status == 200
            }
        }
    }

    @Test func `over TCP one host has four connections`() async throws {
        try await RunningServer.with(listener: .tcp(host: "127.0.0.1", port: 0)) { server in
            let port = try #require(server.address.split(separator: ":").last.flatMap { UInt16($0) })
            let request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
            var clients: [RawClient] = []
            for _ in 0..<4 {
                let client = try RawClient(port: port)
                #expect(await client.exchange(request)?.status == 404)
                clients.append(client)
            }
            #expect(await (try RawClient(port: port)).readToEnd() == "")
            #expect(await clients[0].exchange(request)?.status == 404)
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `flipped bits are answered or refused`(seed: UInt64) async throws {
        let request = Array("POST /x?a=b HTTP/1.1\r\nHost: x\r\nIf-Match: \"1\"\r\nContent-Length: 5\r\n\r\nhello".utf8)
        try await RunningServer.with(Self.routes) { server in
            var random = SeededGenerator(seed: seed)
            for _ in 0..<24 {
                var bytes = request
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
                let client = try server.connect()
                await client.write(bytes)
                client.endOutput()
                _ = await client.readToEnd()
            }
            try await check(server)
        }
    }
}
