import Demonstration
import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Who may use a relay that other machines reach.
    @Suite struct RelayAdmission {
        @Test func `a relay beyond this machine makes its key, keeps it, and takes no publisher without it`()
            async throws
        {
            try await TestStage.run { stage in
                let state = stage.file("relay-state")
                try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
                let settings = stage.file("relay.json")
                try Data(
                    #"{"host":"0.0.0.0","port":0,"graceSeconds":1,"stateDirectory":"\#(state.path)"}"#.utf8
                ).write(to: settings)
                let first = try await stage.serve("relay", ["relay", "--config", settings.path])
                let file = state.appending(path: "publish-keys")
                let made = try String(contentsOf: file, encoding: .utf8)
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let shown = try stage.start("key", "watchboxctl", ["relay", "key", "--state", state.path])
                #expect(await shown.ended(within: .seconds(120)) == 0)
                let key = try #require(shown.lines.first)
                #expect(key.utf8.count == 64 && made == "* = \(key)\n")
                let address = "rtmp://127.0.0.1:\(first.port)/live"
                let refused = try stage.start("refused", "watchboxctl", ["relay", "test", address])
                #expect(await refused.ended(within: .seconds(120)) != 0)
                #expect(!stage.words(of: "relay").contains(key))
                let urlFile = stage.file("relay.url")
                try Data("\(address)/probe?key=\(key)\n".utf8).write(to: urlFile)
                let accepted = try stage.start(
                    "accepted", "watchboxctl", ["relay", "test", "--url-file", urlFile.path])
                #expect(await accepted.ended(within: .seconds(120)) == 0, "\(stage.words(of: "accepted"))")
                await first.program.stop()
                _ = try await stage.serve("again", ["relay", "--config", settings.path])
                #expect(try String(contentsOf: file, encoding: .utf8) == made)
            }
        }

        @Test func `a link is the URL with its end and a signature`() async throws {
            try await TestStage.run { stage in
                let secret = stage.file("links.secret")
                try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: secret)
                let relay = try await stage.relay(options: ["--play-link-secret", secret.path])
                let url = "rtmp://127.0.0.1:\(relay.port)/live/door"
                let made = try stage.start(
                    "link", "watchboxctl", ["relay", "link", url, "--secret-file", secret.path, "--hours", "1"])
                #expect(await made.ended(within: .seconds(120)) == 0, "\(stage.words(of: "link"))")
                let link = try #require(made.lines.first)
                #expect(link.hasPrefix(url + "?expires=") && link.contains("&signature="))
            }
        }

        /// It took all of the processor for as long as they stayed, and so from every stream.
        @Test func `without free descriptors the relay waits, and goes on when there are some`() async throws {
            try await TestStage.run { stage in
                let (relay, port) = try await stage.relay()
                // From outside, so that it may choose its port itself: one that was free a moment ago may be another's by now.
                let limit = try stage.startForeign(
                    "limit", "/usr/bin/prlimit", ["--pid", "\(relay.processIdentifier)", "--nofile=256:256"])
                try #require(await limit.ended(within: .seconds(120)) == 0)
                var held = (0..<300).map { _ in FreePort.connected(to: port) }
                #expect(!held.contains(-1))
                let before = try Self.ticks(of: relay.processIdentifier)
                try await Task.sleep(for: .seconds(3))
                let used = try Self.ticks(of: relay.processIdentifier) - before
                // 300 of these pass in that time.
                #expect(used < 100)
                // Some are left for the relay itself: without one libdispatch ends it when it has more work than threads.
                let open = try FileManager.default.contentsOfDirectory(
                    atPath: "/proc/\(relay.processIdentifier)/fd"
                ).count
                #expect((150...240).contains(open))
                for descriptor in held { close(descriptor) }
                held = []
                let next = try stage.start("test", "watchboxctl", ["relay", "test", "rtmp://127.0.0.1:\(port)/live"])
                #expect(await next.ended(within: .seconds(120)) == 0, "\(stage.words(of: "test"))")
            }
        }

        /// Processor time of a process in hundredths of a second (proc(5): utime and stime).
        private static func ticks(of process: Int32) throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            let fields = text[text.index(after: text.lastIndex(of: ")")!)...].split(separator: " ")
            return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
        }
    }
}
