import Console
import Demonstration
import Foundation
import Testing

extension EndToEndTests {
    @Suite struct MainJob {
        @Test
        func `every access unit of the test pattern arrives bit-exact, over key rotations, and the relay sees nothing`()
            async throws
        {
            try await TestStage.run { stage in
                var demonstration = Demonstration(
                    programs: TestStage.products, output: stage.file("out"), source: nil, seconds: 4,
                    progress: ProgressLine())
                demonstration.rotateSeconds = 1
                let report = try await demonstration.run()
                #expect(report.isGood, "\(report.text)")
                #expect(report.comparison.rotations >= 2)
                #expect(report.comparison.reusedPairs == 0)
                #expect(report.relay.decodedFrames == 0)
                #expect(report.comparison.latencies.count == report.camera.count { $0.track == "video" })
                for file in ["report.html", "report.txt", "viewer.mp4", "viewer.png"] {
                    #expect(FileManager.default.fileExists(atPath: stage.file("out/\(file)").path), "\(file)")
                }
            }
        }

        @Test(
            .enabled(if: installed("ffmpeg") != nil, "needs Debian's ffmpeg to make the files"),
            arguments: [
                ("h264-b-frames.mp4", ["-c:v", "libx264", "-bf", "2", "-g", "25", "-c:a", "aac"]),
                ("hevc.mp4", ["-c:v", "libx265", "-x265-params", "log-level=error", "-g", "25", "-c:a", "aac"]),
                ("h264.flv", ["-c:v", "libx264", "-bf", "0", "-g", "25", "-c:a", "aac"]),
                ("audio-only.mp4", ["-vn", "-c:a", "aac"]),
            ])
        func `a media file passes through untouched`(name: String, options: [String]) async throws {
            try await TestStage.run { stage in
                let film = stage.file(name).path
                let maker = try stage.startForeign(
                    "ffmpeg", installed("ffmpeg")!,
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", "-f", "lavfi", "-i",
                        "sine=r=48000", "-t", "3", "-shortest",
                    ] + options + [film])
                #expect(await maker.ended(within: .seconds(120)) == 0, "\(stage.words(of: "ffmpeg"))")
                let (_, port) = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "film")
                let url = "rtmp://127.0.0.1:\(port)/live/film"
                let viewer = try stage.start(
                    "viewer", "watchboxctl",
                    ["play", url, "--until-end", "--json", "--frame-log", stage.file("viewer.jsonl").path] + kas.viewing
                )
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "film", "--source", film, "--relay", url, "--json", "--frame-log",
                        stage.file("camera.jsonl").path,
                    ] + kas.publishing)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                let comparison = Comparison(camera: sealed, viewer: try FrameRecord.read(stage.file("viewer.jsonl")))
                #expect(comparison.isExact, "\(comparison)")
                #expect(sealed.contains { $0.track == "audio" })
                #expect(sealed.contains { $0.track == "video" } == (name != "audio-only.mp4"))
            }
        }

        @Test(.enabled(if: installed("python3") != nil, "needs python3 for the recorder"))
        func `no piece of an access unit is on the wire in clear`() async throws {
            try await TestStage.run { stage in
                let (_, port) = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                let capture = stage.file("capture").path
                let recorder = try stage.startForeign(
                    "recorder", TestStage.rigs.appending(path: "tcp-recorder").path, ["\(port)", capture])
                let recorded = try await stage.stage.expect("a port", from: recorder) { Int($0) }
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                let viewer = try stage.start(
                    "viewer", "watchboxctl",
                    ["play", url, "--until-end", "--json", "--output", stage.file("clear.ts").path] + kas.viewing)
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--size", "320x180", "--rate", "15", "--bitrate", "200000", "--duration", "3",
                        "--relay", "rtmp://127.0.0.1:\(recorded)/live/door", "--json",
                    ] + kas.publishing)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
                let wire = [UInt8](try Data(contentsOf: URL(filePath: capture)))
                let clear = [UInt8](try Data(contentsOf: stage.file("clear.ts")))
                #expect(wire.count > 20_000)
                // Parameter sets are clear by design: the record stands behind 17 00 00 00 00.
                let marker: [UInt8] = [0x17, 0, 0, 0, 0, 1]
                let start = try #require(wire.indices.first { wire[$0...].starts(with: marker) })
                #expect(Self.sharedWindows(wire, clear, except: Array(wire[start..<min(start + 96, wire.count)])) == 0)
                // The measure itself works: the film holds pieces of the film.
                #expect(Self.sharedWindows(clear, Array(clear.dropFirst(1000))) > 100)
            }
        }

        /// Windows of 12 bytes of `right` that are also in `left`. Windows of few different bytes (padding, lengths)
        /// say nothing and are left out.
        private static func sharedWindows(_ left: [UInt8], _ right: [UInt8], except known: [UInt8] = []) -> Int {
            let size = 12
            let known = Set(known.indices.dropLast(size - 1).map { Array(known[$0..<($0 + size)]) })
            var seen = Set<[UInt8]>()
            var start = 0
            while start + size <= left.count {
                seen.insert(Array(left[start..<(start + size)]))
                start += 1
            }
            var count = 0
            start = 0
            while start + size <= right.count {
                let window = Array(right[start..<(start + size)])
                if Set(window).count >= 8, seen.contains(window), !known.contains(window) { count += 1 }
                start += 7
            }
            return count
        }
    }
}
