import Console
import Demonstration
import FLV
import Foundation
import NIOCore
import Player
import RTMP
import RTMPTransport
import Testing

extension EndToEndTests {
    /// What whoever runs the relay, or has the publish key, can do with what he recorded.
    @Suite struct Replay {
        private struct FinalLine: Decodable {
            var event: String
            var statistics: ViewerStatistics
        }

        private struct VerdictLine: Decodable {
            var event: String
            var verdict: ViewerStatistics.Verdict?
        }

        private struct Outcome {
            var status: Int32?
            var statistics: ViewerStatistics
            /// In order, each once in a row.
            var verdicts: [ViewerStatistics.Verdict]
            var words: String
        }

        @Test func `old, mismatched, shuffled and cut-off streams are noticed, named and reported`() async throws {
            try await TestStage.run { stage in
                let relay = try await stage.relay()
                let kas = try await stage.keyAccess(stream: "door")
                // A viewer that may see both streams: the KAS alone does not keep them apart for it.
                let token = try await stage.stage.token(
                    state: kas.state, subject: "guard", scope: "kas.rewrap", stream: "*", in: stage.directory)
                let viewing = ["--kas", kas.url, "--kas-token-file", token]

                let recording = stage.file("door.flv")
                let recorder = try stage.start(
                    "recorder", "watchboxctl",
                    [
                        "play", Self.url(relay.port, "door"), "--keyless", "--until-end", "--json", "--record",
                        recording.path,
                    ])
                try await stage.wait(for: recorder, state: "waitingForStream")
                let viewer = try stage.start(
                    "live", "watchboxctl",
                    ["play", Self.url(relay.port, "door"), "--until-end", "--json"] + viewing)
                try await stage.wait(for: viewer, state: "waitingForStream")
                let camera = try stage.start(
                    "camera", "watchboxd",
                    [
                        "camera", "door", "--size", "160x90", "--rate", "15", "--bitrate", "60000", "--gop", "0.5",
                        "--duration", "6", "--rotate-seconds", "2", "--relay", Self.url(relay.port, "door"), "--json",
                        "--frame-log", stage.file("camera.jsonl").path,
                    ] + kas.publishing)
                #expect(await camera.ended(within: .seconds(120)) == 0, "\(stage.words(of: "camera"))")
                #expect(await recorder.ended(within: .seconds(120)) == 0, "\(stage.words(of: "recorder"))")
                let live = try await Self.outcome(of: viewer, stage)
                let sealed = try FrameRecord.read(stage.file("camera.jsonl")).count
                #expect(live.status == 0, "\(live.words)")
                #expect(live.verdicts.last == .live, "\(live.verdicts)")
                #expect(live.statistics.finding == nil)
                #expect(live.statistics.video.units + live.statistics.audio.units == UInt64(sealed))
                #expect(live.statistics.keysAhead > 0, "the next header was announced")

                let tags = try Self.tags(recording)
                let old = ["--max-age", "2"]
                // Older than what the viewers below accept.
                try await Task.sleep(for: .seconds(2))
                let attacked = AttackedStage(stage: stage, port: relay.port, viewing: viewing)

                let stale = try await attacked.replay("stale", tags, old)
                #expect(stale.status == ExitStatus.staleStream.rawValue, "\(stale.words)")
                #expect(stale.verdicts.contains(.stale) && !stale.verdicts.contains(.live))
                #expect(stale.statistics.video.units == 0 && stale.statistics.stale > 0)

                let allowed = try await attacked.replay("allowed", tags, old + ["--allow-recording"])
                #expect(allowed.status == 0, "\(allowed.words)")
                #expect(allowed.verdicts.contains(.recording) && !allowed.verdicts.contains(.live))
                #expect(allowed.statistics.video.units == live.statistics.video.units)

                let foreign = try await attacked.replay("foreign", tags, as: "hall", [])
                #expect(foreign.status == ExitStatus.otherStream.rawValue, "\(foreign.words)")
                #expect(foreign.verdicts.contains(.notThisStream))
                #expect(foreign.statistics.opened == 0)

                let shuffled = try await attacked.replay("shuffled", Self.shuffled(tags), old + ["--allow-recording"])
                #expect(shuffled.status == ExitStatus.disorderedStream.rawValue, "\(shuffled.words)")
                #expect(shuffled.verdicts.contains(.disordered))
                #expect(shuffled.statistics.disordered > 10)

                let cut = try await attacked.replay(
                    "cut", Array(tags[..<(tags.count * 2 / 3)]), old + ["--allow-recording"])
                #expect(cut.status == ExitStatus.truncatedStream.rawValue, "\(cut.words)")
                #expect(cut.verdicts.last == .truncated)
                #expect(cut.statistics.truncated == 1)
            }
        }

        /// What an attacker publishes again, and what a viewer makes of it.
        private struct AttackedStage {
            let stage: TestStage
            let port: Int
            let viewing: [String]

            func replay(
                _ what: String, _ tags: [FLVTag], as stream: String = "door", _ options: [String]
            ) async throws -> Outcome {
                let viewer = try stage.start(
                    what, "watchboxctl",
                    ["play", Replay.url(port, stream), "--until-end", "--json"] + options + viewing)
                try await stage.wait(for: viewer, state: "waitingForStream")
                try await Attacker.publish(tags, to: Replay.url(port, stream))
                return try await Replay.outcome(of: viewer, stage)
            }
        }

        private static func url(_ port: Int, _ stream: String) -> String { "rtmp://127.0.0.1:\(port)/live/\(stream)" }

        private static func outcome(of viewer: ChildProgram, _ stage: TestStage) async throws -> Outcome {
            let status = await viewer.ended(within: .seconds(120))
            let words = stage.words(of: viewer.name)
            let final = viewer.lines.lazy.compactMap { line in
                try? JSONDecoder().decode(FinalLine.self, from: Data(line.utf8))
            }.first { $0.event == "final" }
            var verdicts: [ViewerStatistics.Verdict] = []
            for line in viewer.lines {
                guard let verdict = try? JSONDecoder().decode(VerdictLine.self, from: Data(line.utf8)).verdict
                else { continue }
                if verdicts.last != verdict { verdicts.append(verdict) }
            }
            return Outcome(
                status: status, statistics: try #require(final, "\(words)").statistics, verdicts: verdicts, words: words
            )
        }

        private static func tags(_ file: URL) throws -> [FLVTag] {
            var reader = FLVFileReader()
            reader.append([UInt8](try Data(contentsOf: file)))
            var tags: [FLVTag] = []
            while let tag = try reader.nextTag() { tags.append(tag) }
            return tags
        }

        /// Frames between key frames change places with their neighbours; the time stamps stay where they are.
        private static func shuffled(_ tags: [FLVTag]) -> [FLVTag] {
            var tags = tags
            let frames = tags.indices.filter {
                tags[$0].type == FLVTag.video && tags[$0].body.starts(with: [0x27, 1])
            }
            for pair in stride(from: 1, to: frames.count - 3, by: 3) {
                // The last one is the end.
                let body = tags[frames[pair]].body
                tags[frames[pair]].body = tags[frames[pair + 1]].body
                tags[frames[pair + 1]].body = body
            }
            return tags
        }
    }
}

/// Publishes what it is given, as it is.
private final class Attacker: RTMPPublisherDelegate {
    private let started: AsyncStream<Bool>.Continuation

    private init(_ started: AsyncStream<Bool>.Continuation) {
        self.started = started
    }

    static func publish(_ tags: [FLVTag], to url: String) async throws {
        let (events, started) = AsyncStream<Bool>.makeStream()
        let publisher = RTMPPublisherConnection.connect(url: try RTMPURL(url), delegate: Attacker(started))
        guard await events.first(where: { _ in true }) == true else {
            throw CommandFailure(what: "the attacker was not let in", why: "see the relay's log", hint: "read it")
        }
        let begin = ContinuousClock.now
        let zero = tags.first { $0.type != FLVTag.script }?.timestamp ?? 0
        for tag in tags {
            // Twice as fast as it was; all at once a relay would drop groups of it.
            let due = begin + .milliseconds(Int(tag.timestamp >= zero ? tag.timestamp - zero : 0) / 2)
            try await Task.sleep(until: due)
            try await publisher.eventLoop.submit {
                publisher.write(MessageType(rawValue: tag.type), timestamp: tag.timestamp, payload: tag.body[...])
                publisher.flush()
            }.get()
        }
        await publisher.stop()
    }

    func publisherStarted(_ publisher: RTMPPublisherConnection) { started.yield(true) }
    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {}
    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) { started.yield(false) }
}
