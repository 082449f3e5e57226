import APIServer
import Console
import ControlAPI
import Demonstration
import Foundation
import Logging
import ServiceLifecycle
import TestSupport
import Testing

extension EndToEndTests {
    /// `watchboxctl --host`: another box, over the system's ssh.
    @Suite(.enabled(if: SSHServer.isInstalled, Comment(rawValue: SSHServer.lack))) struct RemoteBox {
        /// Of what stands in for the box: control's socket, and who may be logged in there.
        private struct Box {
            let stage: TestStage
            let socket: String
            let configuration: String
            /// Where this end makes its directories.
            let temporary: String

            /// Starts `watchboxctl` as on a laptop.
            func start(_ name: String, _ arguments: [String], variables: [String] = []) throws -> ChildProgram {
                let environment = [
                    "-u", "XDG_RUNTIME_DIR", "TMPDIR=\(temporary)", "WATCHBOX_SSH_CONFIG=\(configuration)",
                    "WATCHBOX_SOCKET=\(socket)",
                ]
                return try stage.startForeign(
                    name, "/usr/bin/env",
                    environment + variables + [TestStage.products.appending(path: "watchboxctl").path] + arguments)
            }

            /// What lies there now.
            var leftovers: [String] { (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? [] }
        }

        private static func with(_ body: (Box) async throws -> Void) async throws {
            try await TestStage.run { stage in
                let temporary = stage.file("t").path
                try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
                let ssh = try SSHServer()
                defer { ssh.stop() }
                // In a directory that everybody may enter.
                let socket = ssh.directory.appending(path: "api.sock").path
                let (log, lines) = AsyncStream<ServerEvent>.makeStream()
                let line = LogLine(
                    time: 1_795_766_400_000_000, unit: "control", camera: nil, level: "info", code: nil,
                    message: "hello", cursor: "1")
                lines.yield(ServerEvent(id: "1", event: "log", data: JSONDocument.text(line)))
                let routes = [
                    APIRoute(.get, "/api/v1/version", "") { _ in .document(VersionDocument(version: "of the box")) },
                    APIRoute(.get, "/api/v1/logs", "") { _ in APIResponse(body: .events(log)) },
                    APIRoute(.get, "/metrics", "") { _ in
                        APIResponse(body: .text("watchbox_up 1\n", type: "text/plain"))
                    },
                ]
                let (addresses, running) = AsyncStream<String>.makeStream()
                let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                let server = APIServer(
                    configuration: .init(listener: .unixSocket(path: socket, mode: 0o600, group: nil)),
                    router: APIRouter(routes), logger: logger, onRunning: { running.yield($0) })
                let services = ServiceGroup(services: [server], logger: logger)
                let serving = Task { try await services.run() }
                var iterator = addresses.makeAsyncIterator()
                _ = await iterator.next(isolation: nil)
                let box = Box(stage: stage, socket: socket, configuration: ssh.configuration, temporary: temporary)
                do { try await body(box) } catch { Issue.record("\(error)") }
                lines.finish()
                await services.triggerGracefulShutdown()
                _ = await serving.result
            }
        }

        @Test func `a command asks the box that --host or WATCHBOX_HOST names, and leaves nothing`() async throws {
            try await Self.with { box in
                for (name, arguments, variables) in [
                    ("before", ["--host", "box", "version", "--json"], []),
                    ("behind", ["version", "--json", "--host=box"], ["WATCHBOX_HOST=impostor"]),
                    ("variable", ["version", "--json"], ["WATCHBOX_HOST=box"]),
                ] as [(String, [String], [String])] {
                    let program = try box.start(name, arguments, variables: variables)
                    #expect(await program.ended(within: .seconds(60)) == 0, "\(box.stage.words(of: name))")
                    #expect(program.lines.contains { $0.contains("of the box") }, "\(program.lines)")
                    #expect(box.leftovers == [])
                }
                let metrics = try box.start("metrics", ["--host", "box", "health", "metrics", "--socket", box.socket])
                #expect(await metrics.ended(within: .seconds(60)) == 0, "\(box.stage.words(of: "metrics"))")
                #expect(metrics.lines == ["watchbox_up 1"])
            }
        }

        @Test(.enabled(if: geteuid() == 0, "needs a second user to log in as"))
        func `who is not in the group is told so, with what to do`() async throws {
            try await Self.with { box in
                let program = try box.start("stranger", ["--host", "stranger", "status"])
                #expect(await program.ended(within: .seconds(60)) == ExitStatus.notPermitted.rawValue)
                let words = box.stage.words(of: "stranger")
                #expect(words.contains("group watchbox") && words.contains("adduser"), "\(words)")
            }
        }

        @Test func `ssh says itself why it did not log in`() async throws {
            try await Self.with { box in
                let program = try box.start("impostor", ["--host", "impostor", "status"])
                #expect(await program.ended(within: .seconds(60)) == ExitStatus.remoteUnreachable.rawValue)
                let words = box.stage.words(of: "impostor")
                #expect(words.contains("Host key verification failed"), "\(words)")
                #expect(words.contains("Next: Log in by hand: ssh impostor"), "\(words)")
                #expect(box.leftovers == [])
            }
        }

        @Test func `without ssh the message says what to install`() async throws {
            try await Self.with { box in
                let program = try box.start("none", ["--host", "box", "status"], variables: ["PATH=/nonexistent"])
                #expect(await program.ended(within: .seconds(60)) == ExitStatus.remoteUnreachable.rawValue)
                #expect(box.stage.words(of: "none").contains("openssh-client"))
            }
        }

        /// Not even SIGKILL leaves an ssh behind, or a socket that others could find.
        @Test(arguments: [SIGKILL, SIGTERM])
        func `whatever ends the command ends its ssh`(signal: Int32) async throws {
            try await Self.with { box in
                let program = try box.start("logs", ["--host", "box", "logs", "-f", "--json"])
                let line = await program.line(within: .seconds(60)) { $0.contains("hello") ? $0 : nil }
                #expect(line != nil, "\(box.stage.words(of: "logs"))")
                #expect(box.leftovers == [])
                let children = Self.children(of: program.processIdentifier)
                #expect(children.count == 1)
                kill(program.processIdentifier, signal)
                _ = await program.ended(within: .seconds(60))
                try await box.stage.wait("ssh ends") { children.allSatisfy { Self.isGone($0) } }
            }
        }

        /// A person who gives up while ssh asks for a passphrase.
        // Not by SIGINT and SIGHUP, which whoever runs the tests may have switched off for all of them.
        @Test func `a signal before the login leaves nothing`() async throws {
            try await Self.with { box in
                let tools = box.stage.file("bin")
                try Self.install("#!/bin/sh\necho begun >&2\nexec sleep 600\n", in: tools)
                let program = try box.start(
                    "waiting", ["--host", "box", "status"], variables: ["PATH=\(tools.path):/bin"])
                try await box.stage.wait("ssh runs") { box.stage.words(of: "waiting").contains("begun") }
                #expect(box.leftovers.count == 1)
                let children = Self.children(of: program.processIdentifier)
                #expect(children.count == 1)
                kill(program.processIdentifier, SIGTERM)
                #expect(await program.ended(within: .seconds(60)) == 128 + SIGTERM)
                #expect(box.leftovers == [])
                try await box.stage.wait("ssh ends") { children.allSatisfy { Self.isGone($0) } }
            }
        }

        /// Either it asks the box, or it says that it is about this machine: never does it look at the wrong one.
        @Test func `every command goes to the box, or says where it has to be run`() async throws {
            // About no box: what a person sees, or a URL, a file, or this program.
            let elsewhere: Set = [
                "play", "relay link", "explain", "completion", "manual", "config schema", "version", "archive create",
                "archive verify", "archive open", "archive playability",
            ]
            try await Self.with { box in
                let tools = box.stage.file("bin")
                try Self.install("#!/bin/sh\necho asked >&2\nexit 255\n", in: tools)
                let secret = box.stage.file("secret")
                try Data("a secret that is long enough\n".utf8).write(to: secret)
                var count = 0
                for leaf in try CommandTreeTests.leaves() where !elsewhere.contains(leaf.path.joined(separator: " ")) {
                    let name = leaf.path.joined(separator: " ")
                    var said: [String] = []
                    for example in leaf.examples where example.hasPrefix("watchboxctl \(name)") {
                        var arguments = Array(CommandTreeTests.words(example).dropFirst())
                        // The files of the examples are nowhere.
                        for index in arguments.indices.dropFirst()
                        where arguments[index - 1].hasPrefix("--") && arguments[index - 1].hasSuffix("file") {
                            arguments[index] = secret.path
                        }
                        if ["config import", "setup"].contains(name) {
                            for index in arguments.indices where arguments[index].hasSuffix(".toml") {
                                arguments[index] = secret.path
                            }
                        }
                        count += 1
                        let log = "command-\(count)"
                        let program = try box.start(
                            log, arguments, variables: ["WATCHBOX_HOST=pi@box", "PATH=\(tools.path):/usr/bin:/bin"])
                        #expect(await program.ended(within: .seconds(60)) != 0, "\(example)")
                        said.append(box.stage.words(of: log))
                    }
                    let isRight = said.contains {
                        $0.contains("ssh to pi@box ended with status 255")
                            || $0.contains("this command is about the machine that it runs on")
                                && $0.contains("ssh pi@box watchboxctl")
                    }
                    #expect(isRight, "watchboxctl \(name): \(said)")
                }
                #expect(count > 60)
            }
        }

        private static func install(_ script: String, in directory: URL) throws {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let path = directory.appending(path: "ssh")
            try Data(script.utf8).write(to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path.path)
        }

        private static func children(of process: Int32) -> [Int32] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { Int32($0) }.filter { parent(of: $0) == process }
        }

        /// The second word behind the name in brackets.
        private static func parent(of process: Int32) -> Int32? {
            let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            return status?.split(separator: ")").last?.split(separator: " ").dropFirst().first.flatMap { Int32($0) }
        }

        /// Ended; in a container without an init nobody may have reaped it.
        private static func isGone(_ process: Int32) -> Bool {
            let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            guard let status else { return true }
            return status.split(separator: ")").last?.hasPrefix(" Z") ?? false
        }
    }
}
