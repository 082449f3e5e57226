import Console
import Demonstration
import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct CommandLine {
        @Test(arguments: [
            ("watchboxd", ["--help"]), ("watchboxd", ["camera", "--help"]), ("watchboxd", ["relay", "--help"]),
            ("watchboxd", ["kas", "--help"]), ("watchboxctl", ["--help"]), ("watchboxctl", ["play", "--help"]),
            ("watchboxctl", ["relay", "test", "--help"]), ("watchboxctl", ["kas", "token", "--help"]),
        ])
        func `help is given and is not an error`(program: String, arguments: [String]) async throws {
            try await TestStage.run { stage in
                let help = try stage.start("help", program, arguments)
                #expect(await help.ended(within: .seconds(120)) == 0)
                #expect(help.lines.contains { $0.hasPrefix("USAGE:") })
            }
        }

        @Test(arguments: [
            ["camera", "Front Door", "--relay", "rtmp://127.0.0.1/live/x"],
            ["camera", "door", "--relay", "rtmp://user:hunter22@127.0.0.1/live/x"],
            ["camera", "door", "--relay", "rtmp://127.0.0.1/live/x?token=hunter22"],
            ["camera", "door", "--relay", "http://127.0.0.1/live/x"],
            ["camera", "door"],
            ["camera", "door", "--relay", "rtmp://127.0.0.1/live/x", "--size", "0x0"],
            ["camera", "door", "--config", "/nonexistent.json"],
            ["kas"],
            ["kas", "--state", "/tmp/x", "--listen", "0.0.0.0:0"],
            ["relay", "--tls-certificate", "/nonexistent.pem"],
            ["relay", "--publish-keys", "/nonexistent"],
            ["relay", "--listen", "nonsense"],
            ["relay", "--listen", "0.0.0.0:0"],
            ["relay", "--allow", "everybody"],
            ["relay", "--play-link-secret", "/nonexistent"],
        ])
        func `a wrong setting is a message and an exit status, never a secret or a trace`(arguments: [String])
            async throws
        {
            try await TestStage.run { stage in
                let program = try stage.start("wrong", "watchboxd", arguments)
                let status = await program.ended(within: .seconds(120))
                #expect(status == ExitStatus.usage.rawValue || status == ExitStatus.invalidConfiguration.rawValue)
                let words = stage.words(of: "wrong")
                #expect(words.lowercased().hasPrefix("error: "), "\(words)")
                #expect(!words.contains("hunter22"), "\(words)")
                #expect(!words.contains("Fatal error") && !words.contains("Stack dump"), "\(words)")
            }
        }

        @Test(arguments: ["--allow-clear", "--keyless"])
        func `a publisher is not asked for where no one could have signed`(other: String) async throws {
            try await TestStage.run { stage in
                let publisher = "sha256//" + String(repeating: "A", count: 43) + "="
                let program = try stage.start(
                    "contradiction", "watchboxctl",
                    [
                        "play", "rtmp://127.0.0.1/live/x", "--publisher", publisher, "--kas", "https://127.0.0.1/kas",
                        other,
                    ])
                #expect(await program.ended(within: .seconds(120)) == ExitStatus.usage.rawValue)
                let words = stage.words(of: "contradiction")
                #expect(words.contains("--publisher cannot hold with \(other)") && words.contains("leave one out"))
            }
        }

        @Test(arguments: [["camra", "show"], ["camera", "shwo"]])
        func `a mistyped command is a question and the status of a wrong usage`(arguments: [String]) async throws {
            try await TestStage.run { stage in
                let program = try stage.start("mistyped", "watchboxctl", arguments)
                #expect(await program.ended(within: .seconds(120)) == ExitStatus.usage.rawValue)
                let words = stage.words(of: "mistyped")
                #expect(
                    words.hasPrefix("Error: There is no command '\(arguments.joined(separator: " "))'. "), "\(words)")
                #expect(words.contains("Did you mean 'camera show'?") && words.contains("Usage:"), "\(words)")
            }
        }

        @Test func `a relay that is not there is a message and status 7`() async throws {
            try await TestStage.run { stage in
                let port = try FreePort.take()
                let test = try stage.start(
                    "relay-test", "watchboxctl", ["relay", "test", "rtmp://127.0.0.1:\(port)/live"])
                #expect(await test.ended(within: .seconds(120)) == ExitStatus.remoteUnreachable.rawValue)
                #expect(stage.words(of: "relay-test").contains("Next: "))
            }
        }

        @Test func `our own relay carries everything`() async throws {
            try await TestStage.run { stage in
                let relay = try await stage.relay()
                let test = try stage.start(
                    "relay-test", "watchboxctl", ["relay", "test", "rtmp://127.0.0.1:\(relay.port)/live", "--json"])
                #expect(await test.ended(within: .seconds(120)) == 0, "\(stage.words(of: "relay-test"))")
                let findings = test.lines.last ?? ""
                for fact in [
                    "\"verdict\":\"carries-everything\"", "\"lateJoinerHasHeader\":true",
                    "\"lateJoinerBeginsWithKeyFrame\":true", "\"framesForeign\":0", "\"framesExact\":150",
                ] {
                    #expect(findings.contains(fact), "\(fact) in \(findings)")
                }
            }
        }

        @Test func `the KAS's files are its owner's alone`() async throws {
            try await TestStage.run { stage in
                let kas = try await stage.keyAccess(stream: "door")
                let manager = FileManager.default
                let directory = try #require(
                    try manager.attributesOfItem(atPath: kas.state)[.posixPermissions] as? Int)
                #expect(directory == 0o700)
                let files = try manager.contentsOfDirectory(atPath: kas.state)
                #expect(files.count >= 3)
                for file in files {
                    let mode = try #require(
                        try manager.attributesOfItem(atPath: "\(kas.state)/\(file)")[.posixPermissions] as? Int)
                    #expect(mode == 0o600, "\(file)")
                }
            }
        }
    }
}
