import ControlAPI
import ErrorCatalog
import Foundation
import Glibc
import Synchronization
import Testing

@testable import APIServer

/// Who may change things. Other users are real processes of other users, so most of this wants root.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ForeignUser.isAvailable, "needs root, setpriv and curl"))
struct PeerTests {
    private static let routes: [APIRoute] = [
        .simple(.get, "/a"), .simple(.post, "/a"), .simple(.delete, "/a"),
        APIRoute(.get, "/peer", "") { request in
            .document([request.peer.userIdentifier, request.peer.groupIdentifier])
        },
    ]

    @Test func `curl reads the status by hand`() async throws {
        try await RunningServer.with([.simple(.get, "/api/v1/status")]) { server in
            let (status, body) = await ForeignUser(user: 0, group: 0).curl("GET", "/api/v1/status", server)
            #expect(status == 200 && body == "GET /api/v1/status")
        }
    }

    @Test func `another user may read and not change`() async throws {
        try await RunningServer.with(Self.routes) { server in
            let user = ForeignUser(user: 65534, group: 65534)
            #expect(await user.curl("GET", "/a", server).status == 200)
            #expect(await user.curl("GET", "/peer", server).body == "[65534,65534]")
            for method in ["POST", "DELETE"] {
                let (status, body) = await user.curl(method, "/a", server)
                #expect(status == 403)
                let problem = try JSONDocument.decode(Problem.self, from: Array(body.utf8))
                #expect(problem.code == .notPermitted)
            }
        }
    }

    @Test func `root and the daemon's own user may change`() async throws {
        try await RunningServer.with(Self.routes) { server in
            #expect(await ForeignUser(user: 0, group: 0).curl("POST", "/a", server).status == 200)
        }
        try await RunningServer.with(Self.routes) {
            $0.administrators = Administrators(group: nil, users: [0, 65534])
        } _: { server in
            #expect(await ForeignUser(user: 65534, group: 65534).curl("POST", "/a", server).status == 200)
            #expect(await ForeignUser(user: 65533, group: 65534).curl("POST", "/a", server).status == 403)
        }
    }

    @Test func `members of the group may change, by their first group or another`() async throws {
        // Any group of this machine serves.
        let (name, group) = ("daemon", Administrators.identifier(ofGroup: "daemon"))
        let identifier = try #require(group)
        try await RunningServer.with(Self.routes) {
            $0.administrators = Administrators(group: name)
        } _: { server in
            #expect(await ForeignUser(user: 65534, group: identifier).curl("POST", "/a", server).status == 200)
            let many = (1000..<1100).map { UInt32($0) }
            let member = ForeignUser(user: 65534, group: 65534, groups: many + [identifier])
            #expect(await member.curl("POST", "/a", server).status == 200)
            let stranger = ForeignUser(user: 65534, group: 65534, groups: many)
            #expect(await stranger.curl("POST", "/a", server).status == 403)
        }
    }

    @Test func `a user who only looks on may read and not change, in the group or not`() async throws {
        let identifier = try #require(Administrators.identifier(ofGroup: "daemon"))
        let nobody = try #require(Administrators.identifier(ofUser: "nobody"))
        #expect(Administrators.identifier(ofUser: "no-such-user") == nil)
        try await RunningServer.with(Self.routes) {
            $0.administrators = Administrators(group: "daemon", observers: ["nobody", "no-such-user"])
        } _: { server in
            let observer = ForeignUser(user: nobody, group: identifier, groups: [identifier])
            #expect(await observer.curl("GET", "/a", server).status == 200)
            #expect(await observer.curl("POST", "/a", server).status == 403)
            #expect(await ForeignUser(user: 65_000, group: identifier).curl("POST", "/a", server).status == 200)
        }
    }

    @Test func `a group that does not exist has no members`() {
        let administrators = Administrators(group: "no-such-group", users: []).resolved()
        #expect(administrators.group == nil)
    }

    @Test func `the file's mode keeps others out before the server does`() async throws {
        let directory = ScratchDirectory()
        try await RunningServer.with(
            Self.routes, listener: .unixSocket(path: directory.path + "/api.sock", mode: 0o660, group: nil),
            directory: directory
        ) { server in
            // curl's 7: no connection.
            #expect(await ForeignUser(user: 65534, group: 65534).curl("GET", "/a", server).status == nil)
        }
    }
}

/// curl as another user.
struct ForeignUser: Sendable {
    var user: UInt32
    var group: UInt32
    var groups: [UInt32] = []

    static let isAvailable =
        geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0 && access("/usr/bin/curl", X_OK) == 0

    /// No status when there was no answer.
    func curl(_ method: String, _ path: String, _ server: RunningServer) async -> (status: Int?, body: String) {
        let groups = groups.isEmpty ? "--clear-groups" : "--groups=" + groups.map(String.init).joined(separator: ",")
        let command = [
            "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(group)", groups, "/usr/bin/curl", "-s", "-q", "-X",
            method,
            "-w", "\\n%{http_code}", "--unix-socket", server.path, "http://x" + path,
        ]
        let output = await RawClient.offPool { Self.output(command) }
        let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.last.flatMap { Int($0) } ?? 0
        return (status == 0 ? nil : status, lines.dropLast().joined(separator: "\n"))
    }

    private static func output(_ command: [String]) -> String {
        // Its children get no descriptors of other tests: what those close is to be closed.
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = output
        guard (try? process.run()) != nil else { return "" }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }
}
