import ArgumentParser
import ControlAPI
import Foundation
import Testing

@testable import watchboxctl

/// Every command says how it is used, and what it says is true.
struct CommandTreeTests {
    /// What the argument parser tells of a command (ToolInfo version 0), as much as is needed.
    private struct Tool: Decodable {
        struct Command: Decodable {
            var commandName: String
            var abstract: String?
            var discussion: String?
            var subcommands: [Command]?
            var arguments: [Argument]?
        }
        struct Argument: Decodable {
            struct Name: Decodable {
                var name: String
            }
            var names: [Name]?
        }
        var command: Command
    }

    private struct Leaf {
        var path: [String]
        var discussion: String
        var options: Set<String>

        /// The lines that begin with a space.
        var examples: [String] {
            discussion.split(separator: "\n").filter { $0.hasPrefix(" ") }.map { $0.drop { $0 == " " } }.map(
                String.init)
        }
    }

    private static func leaves() throws -> [Leaf] {
        let tool = try JSONDecoder().decode(Tool.self, from: Data(Watchboxctl._dumpHelp().utf8))
        func walk(_ command: Tool.Command, _ path: [String]) -> [Leaf] {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            guard below.isEmpty else { return below.flatMap { walk($0, path + [$0.commandName]) } }
            let options = (command.arguments ?? []).flatMap { ($0.names ?? []).map(\.name) }
            return [Leaf(path: path, discussion: command.discussion ?? "", options: Set(options))]
        }
        return walk(tool.command, [])
    }

    @Test func `every command has an example of itself`() throws {
        let leaves = try Self.leaves()
        #expect(leaves.count > 40)
        for leaf in leaves {
            let name = leaf.path.joined(separator: " ")
            // A default subcommand may be shown by its parent's name alone: `watchboxctl health`.
            #expect(
                leaf.examples.contains { $0.hasPrefix("watchboxctl \(name)") },
                "watchboxctl \(name) has no example of itself")
        }
    }

    @Test func `every example is understood by the program that shows it`() throws {
        for leaf in try Self.leaves() {
            for example in leaf.examples where example.hasPrefix("watchboxctl ") {
                let words = Self.words(example)
                #expect(throws: Never.self, "\(example)") { _ = try Watchboxctl.parseAsRoot(Array(words.dropFirst())) }
            }
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `every shell's completion knows every command`(shell: String) throws {
        let command = try #require(try Watchboxctl.parseAsRoot(["completion", shell]) as? CompletionCommand)
        let script = Watchboxctl.completionScript(for: command.shell.parser)
        for leaf in try Self.leaves() where leaf.path != ["manual"] {
            for name in leaf.path { #expect(script.contains(name), "\(name)") }
        }
    }

    @Test func `every command that answers with data takes --json`() throws {
        let textOnly: Set = ["health metrics", "completion", "config schema", "manual"]
        let leaves = try Self.leaves()
        for leaf in leaves {
            let name = leaf.path.joined(separator: " ")
            #expect(leaf.options.contains("json") != textOnly.contains(name), "\(name)")
        }
    }

    @Test(arguments: [
        "health show --nagios --json", "health show --nagios -q", "explain --all --format markdown --json",
        "config export -q", "status --watch -q", "stream top -q", "logs -f -q", "logs front --unit control",
        "logs --camera front --unit control", "relay edit main", "camera edit front", "status --json -o env",
    ])
    func `what contradicts itself is refused before anything happens`(line: String) {
        #expect(throws: (any Error).self) { _ = try Watchboxctl.parseAsRoot(Self.words(line)) }
    }

    @Test(arguments: [
        ("logs relay", "unit", "relay"), ("logs --camera relay", "camera", "relay"), ("logs front", "camera", "front"),
        ("logs --unit watchbox-camera@kas.service", "unit", "watchbox-camera@kas.service"),
    ])
    func `a camera that is called like a unit has its own log`(line: String, key: String, value: String) throws {
        let command = try #require(try Watchboxctl.parseAsRoot(Self.words(line)) as? LogsCommand)
        #expect(command.filter.map(\.0) == [key])
        #expect(command.filter.map(\.1) == [value])
    }

    @Test func `an edit of a relay keeps what it does not name`() {
        let known = RelayDocument(
            name: "main", url: "rtmps://a/live", hasSecret: false, certificateAuthorityFile: "/etc/ca.pem",
            publicKeyPin: "p", profile: "drops-metadata", origin: "store", cameras: [])
        #expect(
            RelayTargets.merged(RelayRequest(url: "rtmps://b/live"), with: known)
                == RelayRequest(
                    url: "rtmps://b/live", certificateAuthorityFile: "/etc/ca.pem", publicKeyPin: "p",
                    profile: "drops-metadata"))
        #expect(
            RelayTargets.merged(RelayRequest(profile: "keeps-metadata"), with: known)
                == RelayRequest(
                    url: "rtmps://a/live", certificateAuthorityFile: "/etc/ca.pem", publicKeyPin: "p",
                    profile: "keeps-metadata"))
        #expect(
            RelayTargets.merged(RelayRequest(url: "rtmp://c/live"), with: nil) == RelayRequest(url: "rtmp://c/live"))
    }

    @Test func `a log that was interrupted goes on after its last line`() {
        func line(_ time: Int64, _ cursor: String) -> LogLine {
            LogLine(time: time, unit: nil, camera: nil, level: "info", code: nil, message: "", cursor: cursor)
        }
        var position = LogPosition()
        #expect(position.query == nil)
        let look1 = position.isNew(line(1_500_000, "a"))
        #expect(look1)
        let look2 = position.isNew(line(1_500_000, "b"))
        #expect(look2)
        #expect(position.query?.first.map { "\($0.0)=\($0.1)" } == "since=1")
        position.interrupted()
        let look3 = position.isNew(line(1_400_000, "0"))
        #expect(!look3)
        let look4 = position.isNew(line(1_500_000, "a"))
        #expect(!look4)
        let look5 = position.isNew(line(1_500_000, "b"))
        #expect(!look5)
        let look6 = position.isNew(line(1_500_000, "c"))
        #expect(look6)
        // The journal has dropped the last line meanwhile: the next one that is younger goes on.
        position.interrupted()
        let look7 = position.isNew(line(1_400_000, "0"))
        #expect(!look7)
        let look8 = position.isNew(line(1_600_000, "d"))
        #expect(look8)
        let look9 = position.isNew(line(1_300_000, "e"))
        #expect(look9)
    }

    /// As a shell splits them, up to a redirection or a pipe.
    private static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in line {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case " " where !isQuoted:
                if let word { words.append(word) }
                word = nil
            case ">" where !isQuoted, "|" where !isQuoted, "<" where !isQuoted: return words
            default: word = (word ?? "") + String(character)
            }
        }
        return words + [word].compactMap(\.self)
    }
}
