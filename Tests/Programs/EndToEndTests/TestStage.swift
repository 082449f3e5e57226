import Console
import Demonstration
import Foundation

/// One test's processes and files; everything it started is gone after `close()`.
final class TestStage {
    let directory: URL
    let stage: Stage
    private var running: [ChildProgram] = []

    /// Where the build put programs and tests.
    static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    static let rigs = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Rigs")

    private init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        stage = Stage(programs: Self.products, logs: directory)
    }

    static func run(_ body: (TestStage) async throws -> Void) async throws {
        let stage = try TestStage()
        do {
            try await body(stage)
            await stage.close()
        } catch {
            await stage.close()
            throw error
        }
    }

    private func close() async {
        for program in running.reversed() { await program.stop() }
        try? FileManager.default.removeItem(at: directory)
    }

    func file(_ name: String) -> URL { directory.appending(path: name) }

    /// The recorded output of a program that failed, for the message.
    func words(of name: String) -> String {
        (try? String(contentsOf: file("\(name).log"), encoding: .utf8)) ?? ""
    }

    func start(_ name: String, _ program: String, _ arguments: [String]) throws -> ChildProgram {
        let program = try stage.start(name, program, arguments)
        running.append(program)
        return program
    }

    /// A program that is not ours.
    func startForeign(_ name: String, _ path: String, _ arguments: [String]) throws -> ChildProgram {
        let program = try ChildProgram(
            name: name, program: URL(filePath: path), arguments: arguments, log: file("\(name).log"),
            timeout: .seconds(3))
        running.append(program)
        return program
    }

    func serve(_ name: String, _ arguments: [String]) async throws -> (program: ChildProgram, port: Int) {
        let served = try await stage.serve(name, arguments)
        running.append(served.program)
        return served
    }

    /// - Parameter options: more of them, such as those of TLS.
    func relay(port: Int = 0, options: [String] = []) async throws -> (program: ChildProgram, port: Int) {
        try await serve("relay", ["relay", "--listen", "127.0.0.1:\(port)", "--grace", "1"] + options)
    }

    /// A KAS with tokens for a publisher and a viewer of `stream`.
    func keyAccess(stream: String, port: Int = 0, options: [String] = []) async throws -> KeyAccess {
        let state = file("kas").path
        let served = try await serve("kas", ["kas", "--state", state, "--listen", "127.0.0.1:\(port)"] + options)
        return KeyAccess(
            program: served.program, port: served.port, state: state,
            publishToken: try await stage.token(
                state: state, subject: "box", scope: "kas.publish", stream: stream, in: directory),
            viewToken: try await stage.token(
                state: state, subject: "viewer", scope: "kas.rewrap", stream: stream, in: directory))
    }

    struct KeyAccess {
        var program: ChildProgram
        var port: Int
        var state: String
        var publishToken: String
        var viewToken: String

        var url: String { "http://127.0.0.1:\(port)/kas" }
        var publishing: [String] { ["--kas", url, "--kas-token-file", publishToken] }
        var viewing: [String] { ["--kas", url, "--kas-token-file", viewToken] }
    }

    /// Waits until the program reports this state; the reports before `skipping` lines are not looked at.
    @discardableResult
    func wait(
        for program: ChildProgram, state: String, skipping: Int = 0, within limit: Duration = .seconds(120)
    ) async throws -> StateLine {
        let deadline = ContinuousClock.now + limit
        while true {
            let lines = program.lines.dropFirst(skipping)
            if let line = lines.lazy.compactMap(StateLine.init).first(where: { $0.state == state }) { return line }
            guard ContinuousClock.now < deadline, program.exitStatus == nil else {
                throw CommandFailure(
                    what: "\(program.name) did not become \(state)", why: words(of: program.name),
                    hint: "it said: \(program.lines.suffix(5))")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Waits for `condition`; a test that needs it fails by time limit, not by this.
    func wait(within limit: Duration = .seconds(120), _ what: String, until condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + limit
        while try !condition() {
            guard ContinuousClock.now < deadline else {
                throw CommandFailure(what: "waited in vain", why: what, hint: "see the logs")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    struct StateLine: Decodable {
        var event: String
        var state: String
        var reason: String?
        var instant: UInt64?

        init?(_ line: String) {
            guard let value = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)), value.event == "state"
            else { return nil }
            self = value
        }
    }
}

/// Where Debian puts a program, or nil.
func installed(_ name: String) -> String? {
    ["/usr/bin/\(name)", "/usr/sbin/\(name)", "/usr/local/bin/\(name)"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}
