import Console
import Demonstration
import FLV
import Foundation
import Testing

extension EndToEndTests {
    /// `--relay-profile parses-avcc`: frames in the shape of NAL units.
    @Suite struct Wrapped {
        @Test func `every access unit arrives bit-exact, and what the relay holds is sealed`() async throws {
            try await TestStage.run { stage in
                let (_, port) = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                let copy = stage.file("copy.flv")
                let viewer = try stage.start(
                    "viewer", "watchboxctl",
                    [
                        "play", url, "--until-end", "--json", "--record", copy.path, "--frame-log",
                        stage.file("viewer.jsonl").path,
                    ] + kas.viewing)
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try Self.camera(stage, url, kas, profile: "parses-avcc")
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                let comparison = Comparison(camera: sealed, viewer: try FrameRecord.read(stage.file("viewer.jsonl")))
                #expect(comparison.isExact, "\(comparison)")
                #expect(comparison.rotations >= 1)
                let view = try RelayCopy(copy).view(camera: sealed)
                // A decoder takes random bytes for slices and conceals what is wrong with them: it may make frames, of
                // noise.
                #expect(view.clearFrames == 0 && view.videoFrames > 0, "\(view.verdict)")
                #expect(try Self.wrappedFrames(copy) == sealed.count { $0.track == "video" } + 1)
            }
        }

        @Test(.enabled(if: installed("ffmpeg") != nil, "needs Debian's ffmpeg to make the file"))
        func `H.265 arrives bit-exact as well`() async throws {
            try await TestStage.run { stage in
                let film = stage.file("film.mp4").path
                let maker = try stage.startForeign(
                    "maker", installed("ffmpeg")!,
                    [
                        "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", "-t", "3", "-c:v", "libx265",
                        "-x265-params", "log-level=error", "-g", "25", film,
                    ])
                #expect(await maker.ended(within: .seconds(120)) == 0, "\(stage.words(of: "maker"))")
                let (_, port) = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                let copy = stage.file("copy.flv")
                let viewer = try stage.start(
                    "viewer", "watchboxctl",
                    [
                        "play", url, "--until-end", "--json", "--record", copy.path, "--frame-log",
                        stage.file("viewer.jsonl").path,
                    ] + kas.viewing)
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--source", film, "--relay-profile", "parses-avcc", "--relay", url, "--json",
                        "--frame-log", stage.file("camera.jsonl").path,
                    ] + kas.publishing)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await viewer.ended(within: .seconds(120)) == 0, "\(stage.words(of: "viewer"))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl"))
                let comparison = Comparison(camera: sealed, viewer: try FrameRecord.read(stage.file("viewer.jsonl")))
                #expect(comparison.isExact && sealed.count == 75, "\(comparison)")
                #expect(try Self.wrappedFrames(copy) == sealed.count + 1, "each frame, and the end of the stream")
            }
        }

        /// Video messages of a relay's copy that hold a wrapped item.
        private static func wrappedFrames(_ copy: URL) throws -> Int {
            var reader = FLVFileReader()
            reader.append([UInt8](try Data(contentsOf: copy)))
            var count = 0
            while let tag = try reader.nextTag() {
                guard tag.type == 9, !NTDFHeaderFrame.matches(tag.body[...]) else { continue }
                let (header, payload) = try VideoTagHeader.parse(tag.body[...])
                guard case .codedFrame = header.kind else { continue }
                if case .wrapped = NALWrapper.form(of: payload, codec: header.codec) { count += 1 }
            }
            return count
        }

        @Test(
            .enabled(if: installed("ffmpeg") != nil, "needs Debian's ffmpeg as the one that parses"),
            arguments: [("parses-avcc", true), ("keeps-metadata", false)])
        func `ffmpeg's parser of NAL units takes the wrapped frames, and no others`(
            profile: String, isTaken: Bool
        ) async throws {
            try await TestStage.run { stage in
                let (_, port) = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                let units = stage.file("units.h264")
                let parser = try stage.startForeign(
                    "parser", installed("ffmpeg")!,
                    [
                        "-nostdin", "-v", "error", "-y", "-rw_timeout", "60000000", "-i", url, "-map", "0:v", "-c",
                        "copy", "-bsf:v", "h264_mp4toannexb", "-f", "h264", units.path,
                    ])
                try await stage.wait("ffmpeg at the relay: \(stage.words(of: "parser"))") {
                    stage.words(of: "relay").contains("player accepted")
                }
                let camera = try Self.camera(stage, url, kas, profile: profile)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                let status = await parser.ended(within: .seconds(120))
                let size = (try? Data(contentsOf: units).count) ?? 0
                #expect((status == 0) == isTaken, "\(status ?? -1) \(stage.words(of: "parser").suffix(2000))")
                let sealed = try FrameRecord.read(stage.file("camera.jsonl")).filter { $0.track == "video" }
                // Every frame whole, with its header byte and at least three bytes of start code.
                let least = sealed.reduce(0) { $0 + $1.bytes + ($1.note ?? 0) + 22 + 4 }
                #expect(isTaken ? size >= least : size == 0, "\(size) of \(least)")
            }
        }

        private static func camera(
            _ stage: TestStage, _ url: String, _ kas: TestStage.KeyAccess, profile: String
        ) throws -> ChildProgram {
            try stage.start(
                "camera", "watchboxd",
                [
                    "camera", "door", "--size", "320x180", "--rate", "15", "--gop", "0.5", "--duration", "4",
                    "--rotate-seconds", "1.5", "--relay-profile", profile, "--relay", url, "--json", "--frame-log",
                    stage.file("camera.jsonl").path,
                ] + kas.publishing)
        }
    }
}
