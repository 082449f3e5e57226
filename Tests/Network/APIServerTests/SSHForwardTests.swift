import APIServer
import ControlAPI
import Glibc
import TestSupport
import Testing

@testable import ControlClient

/// A box that is asked over SSH: the system's ssh, and an OpenSSH server on loopback.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: SSHServer.isInstalled, Comment(rawValue: SSHServer.lack)))
struct SSHForwardTests {
    private static func with(
        _ host: String, _ routes: [APIRoute], mode: UInt32 = 0o666,
        _ body: @Sendable (ControlClient, RunningServer) async throws -> Void
    ) async throws {
        let ssh = try SSHServer()
        defer { ssh.stop() }
        let configuration = ssh.configuration
        let directory = ScratchDirectory()
        let socket = APIServerConfiguration.Listener.unixSocket(
            path: directory.path + "/api.sock", mode: mode, group: nil)
        try await RunningServer.with(routes, listener: socket, directory: directory) { server in
            var client = server.client
            client.forward = SSHForward(
                host: try SSHHost(host), socket: server.path, configurationFile: configuration)
            client.socketPath = "/nowhere"
            try await body(client, server)
        }
    }

    private static func error(_ body: () async throws(ControlClientError) -> Void) async -> ControlClientError? {
        do throws(ControlClientError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `documents and events come from the other machine's socket`() async throws {
        let routes = [
            APIRoute(.get, "/api/v1/version", "") { _ in .document(VersionDocument(version: "there")) },
            .simple(.put, "/a"),
            APIRoute(.get, "/api/v1/events", "") { _ in
                let (events, continuation) = AsyncStream<ServerEvent>.makeStream()
                continuation.yield(ServerEvent(id: "1", event: "camera", data: "front"))
                continuation.finish()
                return APIResponse(body: .events(events))
            },
        ]
        try await Self.with("box", routes) { client, _ in
            #expect(try await client.get(VersionDocument.self, "/api/v1/version").version == "there")
            try await client.send(.put, "/a")
            var events: [ServerEvent] = []
            for try await event in client.events() { events.append(event) }
            #expect(events.map(\.data) == ["front"])
            // A refusal is the daemon's, as without ssh.
            let error = await Self.error { () throws(ControlClientError) in _ = try await client.text("/none") }
            guard case .problem(let problem) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(problem.status == 404)
        }
    }

    @Test func `an ssh that has ended is reported, and the next request begins another`() async throws {
        try await Self.with("box", [.simple(.get, "/a"), .simple(.get, "/b")]) { client, _ in
            #expect(try await client.text("/a") == "GET /a")
            let forward = try #require(client.forward)
            forward.terminate()
            while forward.endStatus == nil { await Task.yield() }
            #expect(try await client.text("/b") == "GET /b")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs a second user to log in as"))
    func `a user whom the socket keeps out is told of the group`() async throws {
        try await Self.with("stranger", [.simple(.get, "/a")], mode: 0o600) { client, server in
            let error = await Self.error { () throws(ControlClientError) in _ = try await client.text("/a") }
            let stranger = try SSHHost("stranger")
            #expect(error == .forward(.refused(stranger, socket: server.path)))
            #expect(error?.exitStatus == 6)
            #expect(error?.description.contains("group watchbox") == true && error?.hint.contains("adduser") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs a second user to log in as"))
    func `the daemon sees the user who is logged in`() async throws {
        let route = APIRoute(.post, "/change", "") { _ in .noContent }
        try await Self.with("stranger", [route]) { client, _ in
            let error = await Self.error { () throws(ControlClientError) in try await client.send(.post, "/change") }
            #expect(error?.exitStatus == 6, "\(String(describing: error))")
        }
        try await Self.with("box", [route]) { client, _ in try await client.send(.post, "/change") }
    }

    @Test(arguments: ["keyless", "impostor"])
    func `without a login nothing is asked`(host: String) async throws {
        try await Self.with(host, [.simple(.get, "/a")]) { client, _ in
            let error = await Self.error { () throws(ControlClientError) in _ = try await client.text("/a") }
            guard case .forward(.ended(let ended, let status)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(ended.name == host && status >> 8 == 255 && error?.exitStatus == 7)
            #expect(error?.hint == "Log in by hand: ssh \(host)")
        }
    }

    @Test func `a path that ssh would read as something else is refused`() async throws {
        let long = "/" + String(repeating: "x", count: 108)
        for path in ["relative.sock", "/run/a:b", "/run/%h", "/run/${HOME}", "", long] {
            var client = ControlClient()
            client.forward = SSHForward(host: try SSHHost("box"), socket: path)
            let error = await Self.error { () throws(ControlClientError) in _ = try await client.text("/a") }
            #expect(error == .forward(.invalidSocket(path: path)))
        }
    }

    @Test func `ssh takes no name for an option, and shares no connection of the user's`() throws {
        let forward = SSHForward(
            host: try SSHHost("me@box:2222"), socket: "/run/watchbox/api.sock", configurationFile: "/c")
        let arguments = forward.arguments("/tmp/x/api.sock")
        #expect(arguments.suffix(4) == ["-L", "/tmp/x/api.sock:/run/watchbox/api.sock", "--", "me@box"])
        for pair in [["-p", "2222"], ["-F", "/c"], ["-S", "none"], ["-o", "ExitOnForwardFailure=yes"]] {
            #expect(arguments.indices.dropLast().contains { Array(arguments[$0...$0 + 1]) == pair }, "\(pair)")
        }
    }
}

struct SSHHostTests {
    @Test(
        arguments: [
            ("watchbox-1234.local", nil, "watchbox-1234.local", nil), ("pi@box", "pi", "box", nil),
            ("pi@box:2222", "pi", "box", 2222), ("10.0.0.7:22", nil, "10.0.0.7", 22),
            ("[fe80::1%eth0]:2222", nil, "fe80::1%eth0", 2222), ("fe80::1", nil, "fe80::1", nil),
            ("[::1]", nil, "::1", nil), ("a@b@box", "a@b", "box", nil),
        ] as [(String, String?, String, Int?)])
    func `a host is read`(text: String, user: String?, name: String, port: Int?) throws {
        let host = try SSHHost(text)
        #expect(host.user == user && host.name == name && host.port == port)
        #expect(try SSHHost(host.description) == host)
    }

    @Test(arguments: [
        "", "-oProxyCommand=x", "pi@-oProxyCommand=x", "-l@box", "[-x]:22", "a b", "a\tb", "box\n", "@box", "pi@",
        "box:",
        "box:0", "box:65536", "box:1x", "box:+1", "[::1", "[::1]x", "[::1]:", "[]", "a;b", "$(x)", "a`b", "a'b", "a/b",
        "böx", "ssh://box", "box\u{0}", String(repeating: "a", count: 301),
    ])
    func `what could be anything else is refused`(text: String) {
        #expect(throws: SSHHost.Invalid.self) { _ = try SSHHost(text) }
    }

    @Test func `a command to get there`() throws {
        #expect(try SSHHost("pi@box:2222").command == "ssh -p 2222 pi@box")
        #expect(try SSHHost("[::1]").command == "ssh ::1")
    }
}
