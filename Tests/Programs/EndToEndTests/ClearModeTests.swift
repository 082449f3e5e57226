import Console
import Demonstration
import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Publishing without encryption exists so that third-party programs can check the rest of the wire.
    @Suite struct ClearMode {
        @Test func `it is refused outside of tests`() async throws {
            try await TestStage.run { stage in
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--clear-for-tests", "--relay", "rtmp://127.0.0.1:1/live/door", "--size",
                        "160x90",
                    ])
                #expect(await camera.ended(within: .seconds(120)) == ExitStatus.failed.rawValue)
            }
        }

        @Test(.enabled(if: installed("ffmpeg") != nil, "needs Debian's ffmpeg as the server"))
        func `ffmpeg as a server takes our publisher`() async throws {
            try await TestStage.run { stage in
                let port = try FreePort.take()
                let received = stage.file("received.flv").path
                let server = try stage.startForeign(
                    "ffmpeg", installed("ffmpeg")!,
                    [
                        "-v", "error", "-listen", "1", "-timeout", "30", "-i", "rtmp://127.0.0.1:\(port)/live/door",
                        "-c", "copy", received,
                    ])
                let camera = try stage.startForeign(
                    "camera", "/usr/bin/env",
                    [
                        "WATCHBOX_ALLOW_CLEAR=tests-only", TestStage.products.appending(path: "watchboxd").path,
                        "camera", "door", "--clear-for-tests", "--size", "320x180", "--rate", "25", "--duration", "3",
                        "--relay", "rtmp://127.0.0.1:\(port)/live/door", "--json",
                    ])
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await server.ended(within: .seconds(120)) == 0, "\(stage.words(of: "ffmpeg"))")
                let probe = try stage.startForeign(
                    "ffprobe", installed("ffprobe")!,
                    [
                        "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames", "-of",
                        "csv",
                        received,
                    ])
                #expect(await probe.ended(within: .seconds(120)) == 0)
                #expect(stage.words(of: "ffprobe").isEmpty, "a decoder complains: \(stage.words(of: "ffprobe"))")
                let counts = probe.lines.reduce(into: [String: Int]()) { counts, line in
                    let fields = line.split(separator: ",").map(String.init)
                    if fields.count == 3 { counts[fields[1]] = Int(fields[2]) }
                }
                let final = try camera.finalStatistics()
                #expect(counts["h264"] == final.video.sealed, "\(probe.lines)")
                #expect(counts["aac"] == final.audio.sealed, "\(probe.lines)")
            }
        }
    }
}
