import ControlAPI
import ControlClient
import Glibc
import Testing

@testable import APIServer

@Suite(.timeLimit(.minutes(15)))
struct ListenerTests {
    private static let routes: [APIRoute] = [.simple(.get, "/a")]

    private func status(_ path: String) -> stat? {
        var information = stat()
        return lstat(path, &information) == 0 ? information : nil
    }

    @Test func `the file has its mode and group, and goes with the server`() async throws {
        let directory = ScratchDirectory()
        let name = String(cString: getgrgid(getegid()).pointee.gr_name)
        try await RunningServer.with(
            Self.routes, listener: .unixSocket(path: directory.path + "/api.sock", mode: 0o640, group: name),
            directory: directory
        ) { server in
            let information = try #require(status(server.path))
            #expect(information.st_mode & S_IFMT == S_IFSOCK)
            #expect(information.st_mode & 0o7777 == 0o640)
            #expect(information.st_gid == getegid())
            #expect(server.address == server.path)
            #expect(directory.names == ["api.sock"])
        }
        #expect(directory.names == [])
    }

    @Test func `the file of a server that died is replaced`() async throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/api.sock"
        let dead = try UnixListener(path: path, mode: 0o600, group: nil)
        close(dead.descriptor)
        let before = try #require(status(path))
        try await RunningServer.with(Self.routes, directory: directory) { server in
            #expect(status(path)?.st_ino != before.st_ino)
            let text = try await server.client.text("/a")
            #expect(text == "GET /a")
        }
    }

    @Test func `a server that lives is not replaced, and its file stays`() async throws {
        try await RunningServer.with(Self.routes) { server in
            await #expect(throws: APIServerError.inUse(path: server.path)) {
                try await APIServer(
                    configuration: APIServerConfiguration(
                        listener: .unixSocket(path: server.path, mode: 0o600, group: nil)),
                    router: APIRouter([]), logger: RunningServer.logger
                ).run()
            }
            let text = try await server.client.text("/a")
            #expect(text == "GET /a")
        }
    }

    @Test func `of servers that start at once one wins`() async throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/api.sock"
        let listeners = await withTaskGroup(of: UnixListener?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await RawClient.offPool { try? UnixListener(path: path, mode: 0o600, group: nil) }
                }
            }
            return await group.reduce(into: [UnixListener]()) { if let listener = $1 { $0.append(listener) } }
        }
        #expect(listeners.count == 1)
        #expect(directory.names == ["api.sock"])
        for listener in listeners {
            listener.removeFile()
            close(listener.descriptor)
        }
    }

    @Test func `a file that is not a socket is left alone`() throws {
        let directory = ScratchDirectory()
        let path = directory.path + "/api.sock"
        close(creat(path, 0o644))
        #expect(throws: APIServerError.notASocket(path: path)) {
            try UnixListener(path: path, mode: 0o600, group: nil)
        }
        symlink("/etc/passwd", directory.path + "/link")
        #expect(throws: APIServerError.notASocket(path: directory.path + "/link")) {
            try UnixListener(path: directory.path + "/link", mode: 0o600, group: nil)
        }
        #expect(Set(directory.names) == ["api.sock", "link"])
    }

    @Test func `what cannot be listened on is said, and leaves nothing behind`() throws {
        let directory = ScratchDirectory()
        let long = directory.path + "/" + String(repeating: "n", count: 100)
        #expect(throws: APIServerError.pathTooLong(path: long, limit: 107)) {
            try UnixListener(path: long, mode: 0o600, group: nil)
        }
        #expect(throws: APIServerError.noSuchGroup("no-such-group")) {
            try UnixListener(path: directory.path + "/a", mode: 0o600, group: "no-such-group")
        }
        do throws(APIServerError) {
            _ = try UnixListener(path: directory.path + "/none/a", mode: 0o600, group: nil)
            Issue.record("it listens")
        } catch {
            guard case .failed(call: "open", _, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(directory.names == [])
    }

    @Test func `who connects to a handed-over socket before the server runs has waited`() async throws {
        let directory = ScratchDirectory()
        let listener = try UnixListener(path: directory.path + "/api.sock", mode: 0o600, group: nil)
        let early = try RawClient(path: listener.path)
        await early.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        // As systemd does: it keeps its own, so that the socket outlives the daemon.
        let kept = dup(listener.descriptor)
        defer { close(kept) }
        try await RunningServer.with(Self.routes, listener: .descriptor(listener.descriptor), directory: directory) {
            server in
            #expect(await early.answer()?.body == "GET /a")
            let text = try await server.client.text("/a")
            #expect(text == "GET /a")
        }
        #expect(directory.names == ["api.sock"])
        let between = try RawClient(path: listener.path)
        await between.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        try await RunningServer.with(Self.routes, listener: .descriptor(dup(kept)), directory: directory) { _ in
            #expect(await between.answer()?.body == "GET /a")
        }
    }

    @Test func `a descriptor that does not listen is refused`() async throws {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        for descriptor in [descriptor, STDERR_FILENO, -1] {
            await #expect(throws: APIServerError.notListening(descriptor: descriptor)) {
                try await APIServer(
                    configuration: APIServerConfiguration(listener: .descriptor(descriptor)), router: APIRouter([]),
                    logger: RunningServer.logger
                ).run()
            }
        }
    }
}
