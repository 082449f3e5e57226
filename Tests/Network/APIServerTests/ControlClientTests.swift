import APIServer
import ControlAPI
import ErrorCatalog
import Glibc
import Testing

@testable import ControlClient

/// `ControlClient` against the server that it is made for.
@Suite(.timeLimit(.minutes(15)))
struct ControlClientTests {
    private func error(_ body: () async throws(ControlClientError) -> Void) async -> ControlClientError? {
        do throws(ControlClientError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `documents go there and back`() async throws {
        let routes: [APIRoute] = [
            APIRoute(.get, "/api/v1/version", "") {
                .document(VersionDocument(version: $0.query["v"] ?? ""), eTag: "\"1\"")
            },
            APIRoute(.post, "/api/v1/version", "") { try .document($0.decode(VersionDocument.self), status: 201) },
            APIRoute(.put, "/api/v1/version", "") { $0.body.isEmpty ? .noContent : .document(0) },
        ]
        try await RunningServer.with(routes) { server in
            let client = server.client
            let path = "/api/v1/version"
            let version = try await client.get(VersionDocument.self, path, query: [("v", "a&b=c d/ü")])
            #expect(version.version == "a&b=c d/ü")
            #expect(try await client.getTagged(VersionDocument.self, path).eTag == "\"1\"")
            let sent = VersionDocument(version: "2")
            #expect(try await client.send(.post, path, body: sent, as: VersionDocument.self) == sent)
            try await client.send(.post, path, body: sent)
            try await client.send(.put, path)
        }
    }

    @Test(
        arguments: [
            (ErrorCode.notFound, Int32(4)), (.notPermitted, 6), (.relayUnreachable, 7), (.invalidValue, 8),
            (.conflict, 9), (.exists, 9), (.internalFault, 1), (.tooMuch, 1),
        ] as [(ErrorCode, Int32)])
    func `a refusal comes with the daemon's message and the exit status`(code: ErrorCode, exit: Int32) async throws {
        let route = APIRoute(.get, "/a", "") { _ in throw CodedError(code, "what", why: "why", object: "front") }
        try await RunningServer.with([route]) { server in
            let error = await error { () throws(ControlClientError) in _ = try await server.client.text("/a") }
            guard case .problem(let problem) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.code == code && problem.detail == "what: why" && problem.object == "front")
            #expect(error?.exitStatus == exit)
            #expect(error?.hint == problem.hint)
        }
    }

    @Test func `no socket, nothing behind it, no permission: each is reported`() async throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/none.sock"
        let client = ControlClient(socketPath: path)
        let missing = await error { () throws(ControlClientError) in _ = try await client.text("/a") }
        #expect(missing?.exitStatus == 5)
        #expect(missing?.description.contains("no such socket") == true)

        try await RunningServer.with(directory: directory) { server in
            // Bound and never listened on, as left by a process that died.
            #expect(link(server.path, path) == 0)
        }
        let dead = await error { () throws(ControlClientError) in _ = try await client.text("/a") }
        #expect(dead?.exitStatus == 5)
        #expect(dead?.description.contains("is not running") == true)
        #expect(ControlClientError.denied(path: path).exitStatus == 6)
    }

    @Test func `an answer that is longer than allowed is rejected`() async throws {
        let route = APIRoute(.get, "/long", "") { _ in
            APIResponse(body: .text(String(repeating: "a", count: 1000), type: "text/plain"))
        }
        try await RunningServer.with([route]) { server in
            var client = server.client
            client.maximumAnswerBytes = 1000
            let whole = try await client.text("/long")
            #expect(whole.count == 1000)
            client.maximumAnswerBytes = 999
            let long = client
            let error = await error { () throws(ControlClientError) in _ = try await long.text("/long") }
            guard case .invalidAnswer = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func `only the socket of the user that is named is asked, over a connection of its own`() async throws {
        func route(_ name: String) -> APIRoute {
            APIRoute(.get, "/who", "") { _ in APIResponse(body: .text(name, type: "text/plain")) }
        }
        let (firstRoute, secondRoute) = (route("first"), route("second"))
        let directory = ScratchDirectory()
        try await RunningServer.with([firstRoute]) { first in
            try await RunningServer.with([secondRoute]) { second in
                let path = directory.path + "/name.sock"
                #expect(link(first.path, path) == 0)
                var client = first.client
                client.socketPath = path
                client.socketOwner = geteuid()
                let before = try await client.text("/who")
                #expect(before == "first")
                // Another listens under the name now; the first still runs, and still has its connections.
                #expect(unlink(path) == 0 && link(second.path, path) == 0)
                let after = try await client.text("/who")
                #expect(after == "second")

                client.socketOwner = geteuid() + 1
                let stranger = client
                let error = await error { () throws(ControlClientError) in _ = try await stranger.text("/who") }
                #expect(error?.exitStatus == 5)
                #expect(error?.description.contains(path) == true)
                await #expect(throws: ControlClientError.self) {
                    for try await _ in stranger.events("/who") {}
                }
                // Neither is a link that leads to one, nor a file that is not a socket.
                client.socketOwner = geteuid()
                let own = client
                #expect(unlink(path) == 0 && symlink(second.path, path) == 0)
                await #expect(throws: ControlClientError.self) { try await own.text("/who") }
                #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
                await #expect(throws: ControlClientError.self) { try await own.text("/who") }
                #expect(rmdir(path) == 0)
                await #expect(throws: ControlClientError.self) { try await own.text("/who") }
            }
        }
        withExtendedLifetime(directory) {}
    }

    @Test func `a daemon that is silent is given up`() async throws {
        let route = APIRoute(.get, "/slow", "") { _ in
            let (never, hold) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            withExtendedLifetime(hold) {}
            return .noContent
        }
        try await RunningServer.with([route]) {
            $0.shutdownGrace = .milliseconds(20)
        } _: { server in
            let client = ControlClient(socketPath: server.path, readTimeout: .milliseconds(100))
            let error = await error { () throws(ControlClientError) in _ = try await client.text("/slow") }
            #expect(error == .timedOut(path: server.path, after: .milliseconds(100)))
            #expect(error?.exitStatus == 5)
        }
    }

    @Test func `an answer that is something else is said to be`() async throws {
        let routes: [APIRoute] = [
            APIRoute(.get, "/text", "") { _ in APIResponse(body: .text("<html>", type: "text/html")) },
            APIRoute(.get, "/status", "") { _ in APIResponse(status: 500, body: .text("oops", type: "text/plain")) },
            APIRoute(.get, "/bytes", "") { _ in APIResponse(body: .bytes([0xFF], type: "text/plain")) },
        ]
        try await RunningServer.with(routes) { server in
            for path in ["/text", "/status"] {
                let error = await error { () throws(ControlClientError) in
                    _ = try await server.client.get(VersionDocument.self, path)
                }
                guard case .invalidAnswer = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(error?.exitStatus == 1)
            }
            guard
                case .invalidAnswer = await error({ () throws(ControlClientError) in
                    _ = try await server.client.text("/bytes")
                })
            else {
                Issue.record("the bytes are not text")
                return
            }
        }
    }

    @Test(arguments: ["..", ".", "%2e%2E", "a/../b", "\0"])
    func `a name that would lead elsewhere is not sent`(name: String) async {
        let client = ControlClient(socketPath: "/nonexistent")
        let error = await error { () throws(ControlClientError) in
            _ = try await client.send(.delete, "/api/v1/cameras/" + name)
        }
        #expect(error == .invalidPath("/api/v1/cameras/" + name))
        #expect(error?.exitStatus == 4)
    }

    @Test func `a part of a path is one part, whatever it holds`() {
        #expect(APIPath.part("front-1_a.b~") == "front-1_a.b~")
        #expect(APIPath.part("a/b?c#d%e f\0ü") == "a%2Fb%3Fc%23d%25e%20f%00%C3%BC")
    }

    @Test func `a refused stream throws the daemon's message`() async throws {
        let route = APIRoute(.get, "/api/v1/events", "") { _ in throw CodedError(.badRequest, "no such topic") }
        try await RunningServer.with([route]) { server in
            do {
                for try await _ in server.client.events(topics: ["x"]) {}
                Issue.record("it ended")
            } catch let error as ControlClientError {
                guard case .problem(let problem) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(problem.code == .badRequest)
            }
        }
        do {
            for try await _ in ControlClient(socketPath: "/nonexistent/x").events() {}
            Issue.record("it ended")
        } catch let error as ControlClientError {
            #expect(error.exitStatus == 5)
        }
    }

    @Test func `events are read in any pieces, with any line ends`() throws {
        let text =
            "\u{FEFF}: hello\n\nid: 7\nevent: a\ndata: one\ndata:two\n\nretry: 5\r\ndata\r\n\r\nid\rdata: x\r\r\nevent: lost\n"
        let expected = [
            ServerEvent(id: "7", event: "a", data: "one\ntwo"), ServerEvent(id: "7", event: "message", data: ""),
            ServerEvent(id: "", event: "message", data: "x"),
        ]
        var whole = ServerEventParser()
        #expect(try whole.received(Array(text.utf8)) == expected)
        var drip = ServerEventParser()
        #expect(try text.utf8.flatMap { try drip.received([$0]) } == expected)
    }

    @Test func `an event without an end is not kept for ever`() throws {
        var parser = ServerEventParser()
        let half = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 19)
        #expect(try parser.received(half) == [])
        #expect(try parser.received(half) == [])
        #expect(throws: ServerEventParser.Failure.tooLong(limit: 1 << 20)) { try parser.received([0x78]) }
        var pings = ServerEventParser()
        for _ in 0..<10 {
            #expect(try pings.received([0x3A] + [UInt8](repeating: 0x78, count: 1 << 18) + [0x0A, 0x0A]) == [])
        }
    }
}
