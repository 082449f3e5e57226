import Console
import Demonstration
import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// kill -9 of the relay, the KAS and the viewer at random points; the camera must neither stop nor repeat itself.
    @Suite struct Crash {
        private static let kills = 50

        @Test(arguments: [1] as [UInt64])
        func `fifty kills leave no reused IV, no clear byte, and a publisher that is back when its relay is`(
            seed: UInt64
        )
            async throws
        {
            try await TestStage.run { stage in
                var random = SeededGenerator(seed: seed)
                // Each comes back to its port, which must not be taken meanwhile.
                var relay = try await stage.relay(port: FreePort.take())
                var kas = try await stage.keyAccess(stream: "door", port: FreePort.take())
                let url = "rtmp://127.0.0.1:\(relay.port)/live/door"
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--size", "160x90", "--rate", "15", "--bitrate", "60000", "--gop", "0.5",
                        "--rotate-seconds", "2", "--relay", url, "--json", "--frame-log",
                        stage.file("camera.jsonl").path,
                    ] + kas.publishing)
                try await stage.wait(for: camera, state: "publishing")
                // Stays at the relay through all of it, without a key.
                let copy = stage.file("relay-copy.flv")
                let onlooker = try stage.start(
                    "onlooker", "watchboxctl", ["play", url, "--keyless", "--record", copy.path, "--json"])
                var viewers = 0
                var viewer = try Self.viewer(stage, url, kas, &viewers)
                try await stage.wait(for: viewer, state: "playing")
                var returns: [Double] = []
                for round in 0..<Self.kills {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 20...250, using: &random)))
                    switch round % 3 {
                    case 0:
                        let seen = camera.lines.count
                        await Self.kill(relay.program)
                        relay = try await stage.relay(port: relay.port)
                        let ready = try #require(Self.readyInstant(relay.program))
                        let line = try await stage.wait(for: camera, state: "publishing", skipping: seen)
                        returns.append(Double(line.instant! - min(ready, line.instant!)) / 1e9)
                    case 1:
                        await Self.kill(kas.program)
                        kas.program = try await stage.serve(
                            "kas", ["kas", "--state", kas.state, "--listen", "127.0.0.1:\(kas.port)"]
                        ).program
                    default:
                        await Self.kill(viewer)
                        viewer = try Self.viewer(stage, url, kas, &viewers)
                    }
                    #expect(camera.exitStatus == nil, "the camera died: \(stage.words(of: "camera"))")
                }
                // Whatever was killed last, everything works again.
                let log = stage.file("viewer-\(viewers).jsonl")
                try await stage.wait("the last viewer to open frames") {
                    ((try? FrameRecord.read(log)) ?? []).count >= 20
                }
                await viewer.stop()
                await onlooker.stop()
                await camera.stop()
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                #expect(Comparison(camera: sealed, viewer: []).reusedPairs == 0)
                let seen = try RelayCopy(copy).view(camera: sealed)
                #expect(seen.clearFrames == 0 && seen.frames > 100, "\(seen.frames) frames: \(seen.verdict)")
                var opened = 0
                for number in 1...viewers {
                    let file = stage.file("viewer-\(number).jsonl")
                    guard FileManager.default.fileExists(atPath: file.path) else { continue }
                    let records = try FrameRecord.read(file)
                    let comparison = Comparison(camera: sealed, viewer: records)
                    #expect(comparison.wrong == 0, "viewer \(number): \(comparison)")
                    opened += comparison.opened
                }
                #expect(opened > 100)
                // Back every time. The promise is 2 s in the middle and 5 s at most, held here at four times of it, because
                // this machine may be busy; what makes it is the delay between two attempts, at most 1.5 s while an outage
                // is young, proven in virtual time (ReconnectBackoffTests).
                #expect(returns.count == (Self.kills + 2) / 3)
                let sorted = returns.sorted()
                print("seconds until the publisher was back: median \(sorted[sorted.count / 2]), most \(sorted.last!)")
                #expect(sorted[sorted.count / 2] < 8)
                #expect(sorted.allSatisfy { $0 < 20 })
            }
        }

        private static func viewer(
            _ stage: TestStage, _ url: String, _ kas: TestStage.KeyAccess, _ count: inout Int
        ) throws -> ChildProgram {
            count += 1
            return try stage.start(
                "viewer-\(count)", "watchboxctl",
                ["play", url, "--json", "--frame-log", stage.file("viewer-\(count).jsonl").path] + kas.viewing)
        }

        private static func kill(_ program: ChildProgram) async {
            Foundation.kill(program.processIdentifier, SIGKILL)
            _ = await program.ended(within: .seconds(120))
        }

        private static func readyInstant(_ program: ChildProgram) -> UInt64? {
            program.lines.lazy.compactMap { try? JSONDecoder().decode(ReadyEvent.self, from: Data($0.utf8)) }.first?
                .instant
        }
    }
}
