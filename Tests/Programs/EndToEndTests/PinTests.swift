import Console
import Demonstration
import Foundation
import Testing

extension EndToEndTests.Secure {
    /// Pinned public keys of relay and KAS.
    @Suite struct Pins {
        private static let names = "DNS:localhost,IP:127.0.0.1"

        /// Relay and KAS with keys of their own, and how a camera and a viewer reach them.
        private struct Servers {
            let authority: Authority
            let relay: (program: ChildProgram, port: Int)
            let kas: TestStage.KeyAccess
            let url: String
            /// Pins of both, and of neither.
            let (relayPin, kasPin, otherPin): (String, String, String)

            init(_ stage: TestStage, isRenewed: Bool = false) async throws {
                let authority = try await Authority(stage)
                self.authority = authority
                var options: [[String]] = []
                for name in ["relay", "kas", "other"] {
                    options.append(try await authority.certificate(name, for: names))
                    if isRenewed { options[options.count - 1] = try await authority.renewed(name, for: names) }
                }
                relay = try await stage.relay(options: options[0])
                kas = try await stage.keyAccess(stream: "door", options: options[1])
                url = "rtmps://localhost:\(relay.port)/live/door"
                relayPin = try await authority.pin("relay")
                kasPin = try await authority.pin("kas")
                otherPin = try await authority.pin("other")
            }

            func trust(relay: String? = nil, kas: String? = nil) -> [String] {
                [
                    "--relay-ca", authority.file, "--kas-ca", authority.file, "--relay-pin", relay ?? relayPin,
                    "--kas-pin", kas ?? kasPin,
                ]
            }

            func camera(_ stage: TestStage, _ trust: [String], _ more: [String] = []) throws -> ChildProgram {
                try stage.start(
                    "camera", "watchboxd",
                    ["camera", "door", "--relay", url] + pattern + keys(kas, "localhost", kas.publishToken) + trust
                        + more)
            }

            func viewer(_ stage: TestStage, _ name: String, _ trust: [String]) throws -> ChildProgram {
                try stage.start(
                    name, "watchboxctl",
                    ["play", url, "--until-end", "--json"] + keys(kas, "localhost", kas.viewToken) + trust)
            }
        }

        @Test(arguments: [false, true])
        func `the pinned keys serve, also in renewed certificates`(isRenewed: Bool) async throws {
            try await TestStage.run { stage in
                let servers = try await Servers(stage, isRenewed: isRenewed)
                let viewer = try servers.viewer(stage, "viewer", servers.trust())
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try servers.camera(stage, servers.trust(), ["--duration", "3"])
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
            }
        }

        @Test func `a camera sends nothing to a relay with another key, though its certificate is right`() async throws
        {
            try await TestStage.run { stage in
                let servers = try await Servers(stage)
                let camera = try servers.camera(stage, servers.trust(relay: servers.otherPin))
                let reason = try await stage.wait(for: camera, state: "waitingToReconnect").reason ?? ""
                #expect(reason.contains("its public key is not the pinned one"), "\(reason)")
                #expect(stage.words(of: "camera").contains("WB-4202"), "\(stage.words(of: "camera"))")
                try await expectNothingPublished(stage, camera, servers.relay.program)
            }
        }

        @Test func `a camera has no key from a KAS with another key, and publishes nothing`() async throws {
            try await TestStage.run { stage in
                let servers = try await Servers(stage)
                let camera = try servers.camera(stage, servers.trust(kas: servers.otherPin))
                let reason = try await stage.wait(for: camera, state: "waitingForKey").reason ?? ""
                #expect(reason.contains("its public key is not the pinned one"), "\(reason)")
                #expect(stage.words(of: "camera").contains("WB-4202"), "\(stage.words(of: "camera"))")
                try await expectNothingPublished(stage, camera, servers.relay.program)
            }
        }

        @Test func `a viewer opens nothing when relay or KAS have another key`() async throws {
            try await TestStage.run { stage in
                let servers = try await Servers(stage)
                let camera = try servers.camera(stage, servers.trust())
                try await stage.wait(for: camera, state: "publishing")
                let keyless = try servers.viewer(stage, "keyless", servers.trust(kas: servers.otherPin))
                let lost = try servers.viewer(stage, "lost", servers.trust(relay: servers.otherPin))
                for (viewer, state) in [(keyless, "waitingForKey"), (lost, "waitingToReconnect")] {
                    try await stage.wait("\(viewer.name) says why") {
                        viewer.lines.compactMap(TestStage.StateLine.init).contains {
                            $0.state == state && $0.reason?.contains("its public key is not the pinned one") == true
                        }
                    }
                    #expect(!viewer.lines.compactMap(TestStage.StateLine.init).contains { $0.state == "playing" })
                }
            }
        }
    }
}
