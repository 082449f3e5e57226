package import Console
package import Foundation

/// Starts our programs and waits for what they say.
package struct Stage: Sendable {
    package var programs: URL
    /// Each program's standard error goes to a file here.
    package var logs: URL

    package init(programs: URL, logs: URL) {
        self.programs = programs
        self.logs = logs
    }

    package func start(_ name: String, _ program: String, _ arguments: [String]) throws -> ChildProgram {
        try ChildProgram(
            name: name, program: programs.appending(path: program), arguments: arguments,
            log: logs.appending(path: "\(name).log"))
    }

    /// Starts a role of `watchboxd` that serves, and learns its port.
    package func serve(_ name: String, _ arguments: [String]) async throws -> (program: ChildProgram, port: Int) {
        let program = try start(name, "watchboxd", arguments + ["--json"])
        let port = try await expect("a port", from: program) { line in
            (try? JSONDecoder().decode(ReadyEvent.self, from: Data(line.utf8)))?.port
        }
        return (program, port)
    }

    @discardableResult
    package func expect<Value>(
        _ what: String, from program: ChildProgram, within limit: Duration = .seconds(120),
        where match: (String) -> Value?
    ) async throws -> Value {
        guard let value = await program.line(within: limit, where: match) else {
            await program.stop()
            throw failure("\(program.name) did not report \(what)", of: program)
        }
        return value
    }

    /// Makes an access token; the path of its file, mode 0600.
    package func token(
        state: String, subject: String, scope: String, stream: String, in directory: URL
    ) async throws -> String {
        let file = directory.appending(path: "\(subject).token")
        let program = try start(
            "token-\(subject)", "watchboxctl",
            ["kas", "token", "--state", state, "--subject", subject, "--scope", scope, "--stream", stream])
        let token = try await expect("a token", from: program) { $0.isEmpty ? nil : $0 }
        _ = await program.ended(within: .seconds(60))
        guard
            FileManager.default.createFile(
                atPath: file.path, contents: Data(token.utf8), attributes: [.posixPermissions: 0o600])
        else {
            throw CommandFailure(
                what: "no token was stored", why: "\(file.path) cannot be written", hint: "check the directory")
        }
        return file.path
    }

    package func failure(_ what: String, of program: ChildProgram) -> CommandFailure {
        let log = logs.appending(path: "\(program.name).log")
        let words = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n").suffix(5)
            .joined(separator: "\n  ")
        return CommandFailure(
            what: what, why: words.map { "its last lines were:\n  \($0)" } ?? "it said nothing",
            hint: "see \(log.path)")
    }
}

/// The part of a camera's last line that the report needs.
package struct FinalStatistics: Decodable {
    package struct Track: Decodable {
        package var delivered: Int
        package var sealed: Int
        package var dropped: Int
        package var bytes: Int
    }

    package var video: Track
    package var audio: Track
    package var overheadBytes: Int
    package var rotations: Int
    package var reconnects: Int
}

extension ChildProgram {
    private struct FinalLine: Decodable {
        var statistics: FinalStatistics
    }

    /// What a camera printed last with `--json`.
    package func finalStatistics() throws -> FinalStatistics {
        guard let line = lines.last(where: { $0.contains("\"event\":\"final\"") }) else {
            throw CommandFailure(
                what: "\(name) printed no statistics", why: "it may have been killed", hint: "see its log")
        }
        return try JSONDecoder().decode(FinalLine.self, from: Data(line.utf8)).statistics
    }
}
