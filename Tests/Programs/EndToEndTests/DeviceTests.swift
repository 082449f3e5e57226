import Console
import Demonstration
import Foundation
import KeyAccessClient
import Player
import Testing

extension EndToEndTests {
    /// A box whose device key is registered at the KAS, and a thief who has its token.
    @Suite struct Device {
        private struct FinalLine: Decodable {
            var event: String
            var statistics: ViewerStatistics
        }

        private static func final(of viewer: ChildProgram) -> ViewerStatistics? {
            viewer.lines.lazy.compactMap { try? JSONDecoder().decode(FinalLine.self, from: Data($0.utf8)) }
                .first { $0.event == "final" }?.statistics
        }

        @Test func `only what the device signed is registered, and viewers can demand it`() async throws {
            try await TestStage.run { stage in
                let relay = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                let url = "rtmp://127.0.0.1:\(relay.port)/live/door"
                let identity = try SigningIdentity.generate()
                let (key, pem) = (stage.file("signing.pem"), stage.file("device.pem"))
                try Data(identity.keyForStream("door")).write(to: key)
                try Data(identity.publicKeyPEM.utf8).write(to: pem)
                let add = try stage.start(
                    "add", "watchboxctl",
                    ["kas", "device", "add", "--state", kas.state, "--subject", "box", "--key", pem.path])
                #expect(await add.ended(within: .seconds(60)) == 0, "\(stage.words(of: "add"))")
                let list = try stage.start("list", "watchboxctl", ["kas", "device", "list", "--state", kas.state])
                #expect(await list.ended(within: .seconds(60)) == 0)
                #expect(list.lines.contains { $0.contains(identity.fingerprint) })

                func camera(_ name: String, _ options: [String], seconds: String) throws -> ChildProgram {
                    try stage.start(
                        name, "watchboxd",
                        [
                            "camera", "door", "--size", "160x90", "--rate", "15", "--bitrate", "60000", "--gop", "0.5",
                            "--duration", seconds, "--rotate-seconds", "2", "--relay", url, "--json",
                        ] + kas.publishing + options)
                }
                func viewer(_ name: String, _ options: [String]) throws -> ChildProgram {
                    try stage.start(
                        name, "watchboxctl",
                        ["play", url, "--until-end", "--json"] + kas.viewing + options)
                }

                // The running KAS has read the list when it refuses what it would have taken.
                let token = try viewer("of the thief", [])
                try await stage.wait(for: token, state: "waitingForStream")
                let thief = try camera("thief", [], seconds: "8")
                try await stage.wait("the thief's stream is refused") {
                    stage.words(of: "thief").contains("not signed with it")
                }
                #expect(await thief.ended(within: .seconds(60)) == 0, "\(stage.words(of: "thief"))")
                _ = await token.ended(within: .seconds(60))
                await token.stop()

                let watching = try viewer("watching", [])
                try await stage.wait(for: watching, state: "waitingForStream")
                let wanting = try viewer("wanting", ["--publisher", identity.fingerprint])
                try await stage.wait(for: wanting, state: "waitingForStream")
                let other = try SigningIdentity.generate().fingerprint
                let wrong = try viewer("wrong", ["--publisher", other])
                try await stage.wait(for: wrong, state: "waitingForStream")
                let box = try camera("box", ["--device-key-file", key.path], seconds: "5")
                #expect(await box.ended(within: .seconds(60)) == 0, "\(stage.words(of: "box"))")
                #expect(await watching.ended(within: .seconds(60)) == 0, "\(stage.words(of: "watching"))")
                #expect(await wanting.ended(within: .seconds(60)) == 0, "\(stage.words(of: "wanting"))")
                #expect(await wrong.ended(within: .seconds(60)) == ExitStatus.otherPublisher.rawValue)
                for program in [watching, wanting] {
                    let statistics = try #require(Self.final(of: program))
                    #expect(statistics.publisher == identity.fingerprint && statistics.video.units > 30)
                    #expect(statistics.notThisPublisher == 0 && statistics.finding == nil)
                }
                let refused = try #require(Self.final(of: wrong))
                #expect(refused.opened == 0 && refused.notThisPublisher > 0)
                #expect(refused.verdictReason?.contains(identity.fingerprint) == true)
                #expect(stage.words(of: "wrong").contains("has not signed"))
                // Nothing that a program says holds a private key.
                let state = try String(contentsOfFile: kas.state + "/devices.json", encoding: .utf8)
                #expect(!state.contains("PRIVATE") && !stage.words(of: "box").contains("PRIVATE"))
            }
        }
    }
}
