import ArgumentParser
import ControlAPI
import ControlClient
import Foundation
import Testing

@testable import BoxCommands

/// Every command says how it is used, and what it says is true.
struct CommandTreeTests {
    /// What the argument parser reports about a command (ToolInfo version 0), as much as is needed.
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

    struct Leaf {
        var path: [String]
        var discussion: String
        var options: Set<String>

        /// The lines that begin with a space, without the `sudo` of what root has to do.
        var examples: [String] {
            discussion.split(separator: "\n").filter { $0.hasPrefix(" ") }.map { $0.drop { $0 == " " } }.map {
                $0.hasPrefix("sudo ") ? String($0.dropFirst(5)) : String($0)
            }
        }
    }

    static func leaves() throws -> [Leaf] {
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
        ("camra show front", "camra", "camera show"), ("camera shwo", "camera shwo", "camera show"),
        ("camra shwo front", "camra shwo", "camera show"), ("statsu", "statsu", "status"),
        ("kas tokne", "kas tokne", "kas token"), ("relay lnik --ttl 1h", "relay lnik", "relay link"),
        ("--host box statsu", "statsu", "status"), ("--host=box camra show", "camra", "camera show"),
    ])
    func `a mistyped command is answered with the one that was meant`(line: String, written: String, meant: String) {
        #expect(throws: (any Error).self) { _ = try Watchboxctl.parseAsRoot(Self.words(line)) }
        let hint = NearestCommand.hint(Self.words(line), of: Watchboxctl.self)
        #expect(hint?.contains("no command '\(written)") == true, "\(hint ?? "nothing")")
        #expect(hint?.contains("Did you mean '\(meant)'?") == true, "\(hint ?? "nothing")")
    }

    @Test(arguments: [
        "camera show", "camera show --jsn", "qqqqqqqq", "camera qqqqqqqq", "health dsk", "help camra", "--jsn", "",
        "status statsu extra", "camera --verbose shwo",
    ])
    func `where no command is mistyped the parser's own message stays`(line: String) {
        #expect(NearestCommand.hint(Self.words(line), of: Watchboxctl.self) == nil)
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
        "--host pi@box:2222 camera list", "--host=pi@box:2222 camera list", "camera list --host pi@box:2222",
        "camera --host pi@box:2222 list",
    ])
    func `the box is named before the command or behind it`(line: String) throws {
        let command = try #require(try Watchboxctl.parseAsRoot(Self.words(line)) as? CameraListCommand)
        #expect(command.output.box.chosen?.description == "pi@box:2222")
        #expect(command.output.client.forward?.host.port == 2222)
        #expect(command.output.client.socketPath == "/run/watchbox/api.sock")
    }

    @Test(arguments: ["--host -oProxyCommand=x status", "status --host=-oProxyCommand=x"])
    func `what is no host is refused before anything happens`(line: String) {
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

    @Test(arguments: ["status", "stream top"])
    func `whoever shows ACK says whose acknowledgement that is`(command: String) throws {
        let leaf = try #require(try Self.leaves().first { $0.path.joined(separator: " ") == command })
        #expect(leaf.discussion.contains("the relay's kernel last took bytes"), "\(leaf.discussion)")
    }

    @Test func `whoever waits looks often at first, and seldom when it takes long`() {
        var pauses = LookPauses()
        var looks: [Duration] = [.zero]
        while let last = looks.last, last < .seconds(60) { looks.append(last + pauses.next()) }
        #expect(looks.count < 50, "\(looks.count) looks in a minute")
        #expect(looks.count { $0 < .seconds(1) } >= 5)
        #expect(zip(looks, looks.dropFirst()).allSatisfy { $1 - $0 <= .seconds(2) })
    }

    /// As a shell splits them, up to a redirection or a pipe.
    static func words(_ line: String) -> [String] {
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
