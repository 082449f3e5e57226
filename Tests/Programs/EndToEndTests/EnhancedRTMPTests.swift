import Console
import Demonstration
import FLV
import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// An FFmpeg with enhanced RTMP (6.1 and newer) on both sides of our relay, and behind our camera.
    @Suite(
        .enabled(
            if: ForeignFFmpeg.newer != nil,
            "WATCHBOX_FFMPEG7 names no ffmpeg of version 6.1 or newer (`make test` gets one from PyPI)"))
    struct EnhancedRTMP {
        struct Codec: CustomTestStringConvertible, Sendable {
            var name: String
            var encoder: [String]
            /// How the body of the message with the decoder configuration begins.
            var wireMark: [UInt8]

            var testDescription: String { name }

            static let h264 = Codec(name: "h264", encoder: ["-c:v", "libx264", "-g", "25"], wireMark: [0x17, 0])
            static let hevc = Codec(
                name: "hevc", encoder: ["-c:v", "libx265", "-x265-params", "log-level=error:keyint=25"],
                wireMark: [0x90] + Array("hvc1".utf8))
        }

        @Test(arguments: [Codec.h264, .hevc])
        func `ffmpeg plays from our relay every packet that ffmpeg publishes, at its time`(codec: Codec) async throws {
            try await TestStage.run { stage in
                let film = try await Self.film(stage, "film.flv", codec)
                let (relay, port) = try await stage.relay()
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                // Both are there before the publisher, so both get everything.
                let player = try Self.run(stage, "player", Self.playing(url, stage))
                let recorder = try stage.start(
                    "recorder", "watchboxctl",
                    ["play", url, "--keyless", "--until-end", "--json", "--record", stage.file("relayed.flv").path])
                try await stage.wait("two players at the relay: \(stage.words(of: "player"))") {
                    stage.words(of: "relay").components(separatedBy: "player accepted").count == 3
                }
                let publisher = try Self.run(
                    stage, "publisher", ["-re", "-i", film.path, "-map", "0", "-c", "copy", "-f", "flv", url])
                #expect(await publisher.ended(within: .seconds(120)) == 0, "\(stage.words(of: "publisher"))")
                #expect(await player.ended(within: .seconds(120)) == 0, "\(stage.words(of: "player"))")
                #expect(await recorder.ended(within: .seconds(120)) == 0, "\(stage.words(of: "recorder"))")
                #expect(stage.words(of: "player").isEmpty, "\(stage.words(of: "player"))")

                // Decoder configurations, and of each packet its times, its size and its bytes.
                let sent = try await Self.packets(stage, film)
                let played = try String(contentsOf: stage.file("played.packets"), encoding: .utf8)
                #expect(played == sent)
                #expect(sent.contains("#codec_id 0: \(codec.name)\n") && sent.contains("#codec_id 1: aac\n"))
                #expect(Self.count(sent, stream: 0) == Self.frames)
                #expect(Self.count(sent, stream: 1) > 100)
                // And the frames are there, not only the packets.
                let frames = try await Self.frames(stage, stage.file("played.flv"))
                #expect(try await Self.frames(stage, film) == frames)
                #expect(Self.count(frames, stream: 0) == Self.frames)

                // It was enhanced RTMP, and the relay changed not a byte of a message.
                let relayed = try Self.tags(stage.file("relayed.flv"))
                let published = try Self.tags(film)
                for type: UInt8 in [8, 9] {
                    #expect(
                        relayed.filter { $0.type == type }.map(\.body)
                            == published.filter { $0.type == type }.map(\.body))
                }
                let first = try #require(relayed.first { $0.type == 9 })
                #expect(first.body.starts(with: codec.wireMark), "\(first.body.prefix(8))")
                await relay.stop()
                #expect(relay.lines.last?.contains("\"framesDropped\":0") == true, "\(relay.lines.last ?? "")")
            }
        }

        @Test(arguments: [Codec.h264, .hevc])
        func `ffmpeg plays what our camera publishes in clear, packet for packet`(codec: Codec) async throws {
            try await TestStage.run { stage in
                let film = try await Self.film(stage, "film.mp4", codec)
                let (_, port) = try await stage.relay()
                let url = "rtmp://127.0.0.1:\(port)/live/door"
                let player = try Self.run(stage, "player", Self.playing(url, stage))
                try await stage.wait("the player at the relay: \(stage.words(of: "player"))") {
                    stage.words(of: "relay").contains("player accepted")
                }
                let camera = try stage.startForeign(
                    "camera", "/usr/bin/env",
                    [
                        "WATCHBOX_ALLOW_CLEAR=tests-only", TestStage.products.appending(path: "watchboxd").path,
                        "camera", "door", "--clear-for-tests", "--source", film.path, "--relay", url, "--json",
                    ])
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await player.ended(within: .seconds(120)) == 0, "\(stage.words(of: "player"))")
                #expect(stage.words(of: "player").isEmpty, "\(stage.words(of: "player"))")
                let sent = try await Self.packets(stage, film)
                let played = try String(contentsOf: stage.file("played.packets"), encoding: .utf8)
                #expect(played.contains("#codec_id 0: \(codec.name)\n") && played.contains("#codec_id 1: aac\n"))
                #expect(Self.count(played, stream: 0) == Self.frames)
                for stream in [0, 1] {
                    // An MP4 file counts time in other units.
                    #expect(
                        Self.hashes(played, stream: stream) == Self.hashes(sent, stream: stream), "stream \(stream)")
                }
                let frames = try await Self.frames(stage, stage.file("played.flv"))
                #expect(Self.count(frames, stream: 0) == Self.frames)
            }
        }

        private static let frames = 75

        /// Three seconds with B-frames and audio.
        private static func film(_ stage: TestStage, _ name: String, _ codec: Codec) async throws -> URL {
            let film = stage.file(name)
            let maker = try run(
                stage, "maker",
                [
                    "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=440:r=48000", "-t",
                    "3", "-pix_fmt", "yuv420p",
                ] + codec.encoder + ["-preset", "ultrafast", "-bf", "2", "-c:a", "aac", film.path])
            try #require(await maker.ended(within: .seconds(120)) == 0, "\(stage.words(of: "maker"))")
            return film
        }

        /// Keeps the packets as they came twice: as a list and as a film.
        private static func playing(_ url: String, _ stage: TestStage) -> [String] {
            ["-rw_timeout", "30000000", "-i", url] + listing + [stage.file("played.packets").path]
                + ["-map", "0", "-c", "copy", stage.file("played.flv").path]
        }

        private static let listing = ["-map", "0", "-c", "copy", "-f", "framehash", "-hash", "sha256"]

        private static func packets(_ stage: TestStage, _ film: URL) async throws -> String {
            try await list(stage, film, listing)
        }

        private static func frames(_ stage: TestStage, _ film: URL) async throws -> String {
            try await list(stage, film, ["-xerror", "-map", "0", "-f", "framehash", "-hash", "sha256"])
        }

        private static func list(_ stage: TestStage, _ film: URL, _ options: [String]) async throws -> String {
            let file = stage.file("list")
            let lister = try run(stage, "lister", ["-i", film.path] + options + [file.path])
            try #require(await lister.ended(within: .seconds(120)) == 0, "\(stage.words(of: "lister"))")
            #expect(stage.words(of: "lister").isEmpty, "\(film.lastPathComponent): \(stage.words(of: "lister"))")
            return try String(contentsOf: file, encoding: .utf8)
        }

        /// Lines of a list: stream, decode time, presentation time, duration, size, hash, then what is beside the
        /// packet.
        private static func hashes(_ list: String, stream: Int) -> [String] {
            list.split(separator: "\n").filter { $0.hasPrefix("\(stream),") }
                .map { $0.split(separator: ",").dropFirst(4).prefix(2).joined(separator: ",") }
        }

        private static func count(_ list: String, stream: Int) -> Int { hashes(list, stream: stream).count }

        private static func tags(_ file: URL) throws -> [FLVTag] {
            var reader = FLVFileReader()
            reader.append([UInt8](try Data(contentsOf: file)))
            var tags: [FLVTag] = []
            while let tag = try reader.nextTag() { tags.append(tag) }
            return tags
        }

        private static func run(_ stage: TestStage, _ name: String, _ arguments: [String]) throws -> ChildProgram {
            try stage.startForeign(
                name, try #require(ForeignFFmpeg.newer), ["-nostdin", "-v", "error", "-y"] + arguments)
        }
    }
}
