import Cryptography
import Demonstration
import Foundation
import Player
import Settings
import TestSupport
import Testing

extension EndToEndTests {
    /// Debian's nginx with its RTMP module as relay, and rtmpdump as the one who stores what it hands out.
    @Suite(
        .enabled(
            if: installed("nginx") != nil && installed("rtmpdump") != nil,
            "needs Debian's nginx, libnginx-mod-rtmp and rtmpdump"))
    struct ForeignRelay {
        @Test(arguments: [("copy", "keeps-metadata"), ("live", "drops-metadata")])
        func `what rtmpdump stores behind nginx-rtmp decrypts bit-exact`(application: String, profile: String)
            async throws
        {
            try await TestStage.run { stage in
                let port = try await Self.nginx(stage)
                let kas = try await stage.keyAccess(stream: "door")
                let url = "rtmp://127.0.0.1:\(port)/\(application)/door"
                let stored = stage.file("stored.flv")
                let dump = try stage.startForeign(
                    "rtmpdump", installed("rtmpdump")!, ["-q", "-v", "-r", url, "-o", stored.path])
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--size", "320x180", "--rate", "15", "--gop", "0.5", "--duration", "5",
                        "--rotate-seconds", "1.5", "--relay-profile", profile, "--relay", url, "--json", "--frame-log",
                        stage.file("camera.jsonl").path,
                    ] + kas.publishing)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                try await stage.wait("rtmpdump's file to be complete") {
                    let attributes = try? FileManager.default.attributesOfItem(atPath: stored.path)
                    let size = (attributes?[.size] as? Int) ?? 0
                    return size >= sealed.suffix(from: sealed.count / 2).reduce(0) { $0 + $1.bytes }
                }
                await dump.stop()
                let opened = try await StoredStream.open(
                    stored,
                    provider: KASKeyProvider(KASConfiguration(url: kas.url, token: .file(kas.viewToken))))
                let comparison = Comparison(camera: sealed, viewer: opened)
                #expect(comparison.wrong == 0 && comparison.reusedPairs == 0)
                #expect(opened.count > sealed.count / 2)
                // What is missing is before the first that was stored, or behind the last: nothing in between.
                let names = sealed.map { "\($0.collection ?? "")/\($0.iv ?? 0)" }
                let positions = opened.compactMap { names.firstIndex(of: "\($0.collection ?? "")/\($0.iv ?? 0)") }
                #expect(zip(positions, positions.dropFirst()).allSatisfy { $1 == $0 + 1 })
                #expect(Set(opened.map(\.collection)).count >= 2, "a rotation is in it")
            }
        }

        @Test(arguments: [("copy", "carries-everything"), ("live", "drops-metadata")])
        func `relay test reports what nginx-rtmp does`(application: String, verdict: String) async throws {
            try await TestStage.run { stage in
                let port = try await Self.nginx(stage)
                let test = try stage.start(
                    "relay-test", "watchboxctl",
                    ["relay", "test", "rtmp://127.0.0.1:\(port)/\(application)", "--json"])
                #expect(await test.ended(within: .seconds(120)) == 0, "\(stage.words(of: "relay-test"))")
                let line = test.lines.last ?? ""
                #expect(line.contains("\"verdict\":\"\(verdict)\""), "\(line)")
            }
        }

        private static func nginx(_ stage: TestStage) async throws -> Int {
            let port = try FreePort.take()
            let nginx = try stage.startForeign(
                "nginx", TestStage.rigs.appending(path: "nginx/nginx-relay").path,
                ["\(port)", stage.file("nginx").path])
            try await stage.wait("nginx to listen: \(stage.words(of: "nginx"))") {
                nginx.exitStatus == nil && FreePort.answers(port)
            }
            return port
        }
    }
}
