import Foundation
import Synchronization

/// A web server of other authors than ours (`python3`'s http.server), which answers as the path says: /ok, /flaky (503 the
/// first time), /gone (404), /away (a redirect to /ok), /long (200, with a body without end), /hang (never).
final class Receiver: Sendable {
    struct Request: Decodable, Equatable, Sendable {
        var path: String
        /// Names in lower case.
        var headers: [String: String]
        var body: String
    }

    private struct State {
        var requests: [Request] = []
        var watchers: [AsyncStream<Void>.Continuation] = []
    }

    static let program = "/usr/bin/python3"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: program)

    let port: Int
    private let process: Process
    private let state = Mutex(State())

    var url: String { "http://127.0.0.1:\(port)" }
    var requests: [Request] { state.withLock { $0.requests } }

    init() throws {
        process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["-c", Self.script]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let lines = LineReader(output.fileHandleForReading)
        port = try Int(lines.next() ?? "") ?? { throw CocoaError(.fileReadUnknown) }()
        Thread.detachNewThread { [weak self] in
            while let line = lines.next() {
                guard let request = try? JSONDecoder().decode(Request.self, from: Data(line.utf8)) else { continue }
                self?.received(request)
            }
        }
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func received(_ request: Request) {
        let watchers = state.withLock { state in
            state.requests.append(request)
            return state.watchers
        }
        for watcher in watchers { watcher.yield() }
    }

    /// Waits until there are as many requests of this path; fewer when the test is at its time limit.
    func requests(_ count: Int, of path: String) async -> [Request] {
        let (news, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.watchers.append(continuation) }
        continuation.yield()
        for await _ in news where requests.count(where: { $0.path == path }) >= count { break }
        return requests.filter { $0.path == path }
    }

    private static let script = #"""
        import http.server, json, sys, threading, time
        seen = set()
        telling = threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                path = self.path.split("?")[0].split("/")[1]
                first = path not in seen
                seen.add(path)
                line = json.dumps({"path": self.path, "body": body,
                                   "headers": {name.lower(): value for name, value in self.headers.items()}})
                # print() writes line and end in two pieces, and there are several threads.
                with telling:
                    print(line, flush=True)
                if path == "hang":
                    time.sleep(3600)
                status = {"gone": 404, "away": 302}.get(path, 503 if path == "flaky" and first else 200)
                self.send_response(status)
                if path == "away":
                    self.send_header("Location", "/ok")
                answer = b"x" * (1 << 20 if path == "long" else 6)
                self.send_header("Content-Length", str(len(answer) * (1024 if path == "long" else 1)))
                self.end_headers()
                self.wfile.write(answer)
            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        print(server.server_address[1], flush=True)
        server.serve_forever()
        """#
}

/// Lines of a pipe, for one thread.
private final class LineReader: @unchecked Sendable {
    private let handle: FileHandle
    private var text = Data()

    init(_ handle: FileHandle) {
        self.handle = handle
    }

    func next() -> String? {
        while true {
            if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                defer { text = text[text.index(after: end)...] }
                return String(decoding: text[..<end], as: UTF8.self)
            }
            let more = handle.availableData
            if more.isEmpty { return nil }
            text += more
        }
    }
}
