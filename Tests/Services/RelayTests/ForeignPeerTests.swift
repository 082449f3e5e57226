import ChannelTestSupport
import FLV
import Foundation
import RTMP
import RTMPTransport
import TestSupport
import Testing

@testable import Relay

/// Third-party programs check the relay. Each test is skipped where its program is missing.
@Suite(.serialized, .enabled(if: ForeignProgram.path("ffmpeg") != nil)) struct ForeignPeerTests {
    /// Two seconds of H.264 (a key frame each half second, B-frames) and AAC.
    private func clip(in directory: TemporaryDirectory, video: Bool = true) async throws -> [FLVTag] {
        let frame = ["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25"]
        let audio = ["-f", "lavfi", "-i", "sine=440:r=48000"]
        let coding = ["-c:v", "libx264", "-preset", "veryfast", "-g", "12", "-bf", "2", "-pix_fmt", "yuv420p"]
        let arguments =
            ["-nostdin", "-loglevel", "error", "-y"] + (video ? frame : []) + audio + (video ? coding : [])
            + ["-c:a", "aac", "-ac", "2", "-t", "2", "-f", "flv", directory.path("clip.flv")]
        let ffmpeg = try #require(try ForeignProgram("ffmpeg", arguments, in: directory))
        let status = try await ffmpeg.end()
        try #require(status == 0, "\(ffmpeg.output)")
        return try tags(directory.bytes("clip.flv"))
    }

    private func tags(_ bytes: [UInt8]) throws -> [FLVTag] {
        var reader = FLVFileReader()
        reader.append(bytes)
        var tags: [FLVTag] = []
        while let tag = try reader.nextTag() { tags.append(tag) }
        return tags
    }

    @Test(arguments: [true, false])
    func `ffmpeg publishes, and every audio and video message comes out as it went in`(video: Bool) async throws {
        let directory = try TemporaryDirectory()
        let sent = try await clip(in: directory, video: video)
        try await withRelay { relay in
            let (player, log) = try await relay.play()
            let ffmpeg = try #require(
                try ForeignProgram(
                    "ffmpeg",
                    [
                        "-nostdin", "-loglevel", "error", "-i", directory.path("clip.flv"), "-c", "copy", "-f", "flv",
                        relay.address(),
                    ],
                    in: directory))
            let status = try await ffmpeg.end()
            #expect(status == 0, "\(ffmpeg.output)")
            try await relay.wait { $0.publishers == 0 }
            // What the relay has is not yet with the player: on a busy machine that takes its time.
            for tag in sent where [MessageType.audio, .video].contains(where: { $0.rawValue == tag.type }) {
                try await log.log.next {
                    if case .message(let message) = $0 { message.type != .dataAMF0 } else { false }
                }
            }
            await player.stop()
            let got = log.log.all.compactMap { event -> RTMPMessage? in
                if case .message(let message) = event { message } else { nil }
            }
            #expect(got.first?.type == .dataAMF0, "metadata come first")
            for type in [MessageType.audio, .video] {
                let expected = sent.filter { $0.type == type.rawValue }.map(\.body)
                let received = got.filter { $0.type == type }.map(\.payload)
                // ffmpeg ends a stream with an "end of sequence" of its own.
                #expect(received.count == expected.count, "\(type)")
                #expect(received == expected)
            }
            // Interleaved tracks may cross each other; each on its own does not go back.
            for type in [MessageType.audio, .video] {
                let times = got.filter { $0.type == type }.map(\.timestamp)
                #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
            }
        }
    }

    @Test(arguments: [true, false])
    func `ffmpeg plays what ffmpeg publishes`(video: Bool) async throws {
        let directory = try TemporaryDirectory()
        _ = try await clip(in: directory, video: video)
        try await withRelay { relay in
            let publisher = try #require(
                try ForeignProgram(
                    "ffmpeg",
                    [
                        "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", directory.path("clip.flv"),
                        "-c", "copy", "-f", "flv", relay.address(),
                    ],
                    in: directory))
            try await relay.wait { ($0.streams.first?.audioFrames ?? 0) > 10 }
            let player = try #require(
                try ForeignProgram(
                    "ffmpeg",
                    [
                        "-nostdin", "-loglevel", "error", "-xerror", "-rw_timeout", "60000000", "-i", relay.address(),
                        "-t", "1", "-f", "framemd5", directory.path("frames.md5"),
                    ],
                    in: directory))
            let status = try await player.end()
            #expect(status == 0, "\(player.output)")
            #expect(player.output.isEmpty, "not a word of complaint from the decoders")
            let frames = String(decoding: try directory.bytes("frames.md5"), as: UTF8.self).split(separator: "\n")
                .filter { !$0.hasPrefix("#") }
            #expect(frames.filter { $0.hasPrefix("0,") }.count >= 20)
            if video { #expect(frames.filter { $0.hasPrefix("1,") }.count >= 20) }
            try await publisher.kill()
            try await relay.wait { $0.connections == 0 }
        }
    }

    @Test(.enabled(if: ForeignProgram.path("rtmpdump") != nil))
    func `rtmpdump stores an encrypted stream byte for byte, header frame before the key frame`() async throws {
        let directory = try TemporaryDirectory()
        try await withRelay {
            $0.limits.grace = 200_000_000
        } _: { relay in
            let (publisher, _) = try await relay.publish("sealed")
            var generator = SeededGenerator(seed: 7)
            func item(_ prefix: [UInt8], _ size: Int) -> [UInt8] {
                prefix + (0..<size).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            }
            var messages = [
                Sent(.dataAMF0, 0, Body.metadata("ntdf_header")), Sent(.video, 0, Body.ntdfHeader()),
                Sent(.video, 0, Body.videoHeader), Sent(.audio, 0, Body.audioHeader),
                Sent(.video, 0, item([0x17, 1, 0, 0, 0], 60_000)),
            ]
            try await publisher.send(messages)
            let rtmpdump = try #require(
                try ForeignProgram(
                    "rtmpdump", ["-q", "-v", "-r", relay.address("sealed"), "-o", directory.path("dump.flv")],
                    in: directory))
            try await relay.wait { $0.subscribers == 1 }
            for frame in UInt32(1)...50 {
                let key = frame % 25 == 0
                let live = [
                    Sent(.video, frame * 40, item([key ? 0x17 : 0x27, 1, 0, 0, 0], key ? 40_000 : 3000)),
                    Sent(.audio, frame * 40 + 3, item([0xAF, 1], 200)),
                ]
                try await publisher.send(live)
                messages += live
            }
            try await relay.wait { $0.streams.first?.audioFrames == 50 }
            await publisher.stop()
            _ = try await rtmpdump.end()
            let stored = try tags(directory.bytes("dump.flv")).filter { $0.type != 18 }
            // A late joiner gets the header frame behind the sequence headers.
            let expected = [2, 3, 1].map { messages[$0] } + messages[4...]
            #expect(stored.map(\.body) == expected.map(\.payload))
            #expect(stored.map(\.timestamp) == expected.map(\.time))
        }
    }
}
