import Archive
import Console
import Cryptography
import Foundation
import KeyAccess
import TDF
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive create --profile p` and what opens it, the program itself.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchivePlayableTests {
    private static let key = ["--key", "kas.key.pem"]

    private static func stage() throws -> RecordingStage {
        let stage = try ArchiveExportTests.stage()
        try stage.write(Array(try RecordingStage.key.publicKey.spkiPEM().utf8), "kas.pem")
        return stage
    }

    private static func document(_ outcome: ProgramRun) throws -> ArchiveDocument {
        try JSONDecoder().decode(ArchiveDocument.self, from: Data(outcome.bytes))
    }

    @Test func `what was recorded goes into one of profile P and comes out of it`() async throws {
        let stage = try Self.stage()
        let time = ["--from", "2026-11-28T10:00:05.700", "--to", "2026-11-28T10:00:09.100"]
        let created = try await stage.run(
            [
                "create", "front", "--directory", "recordings", "--profile", "p", "--kas-key", "kas.pem", "--kas",
                "https://kas.example.net", "--output", "span.tdf",
            ] + time + Self.key)
        #expect(created.status == 0, "\(created.errors)")
        let exported = try await stage.run(
            ["export", "front", "--directory", "recordings", "--output", "film.mp4"] + time + Self.key)
        #expect(exported.status == 0, "\(exported.errors)")
        let film = try RecordingStage.events(of: stage.path("film.mp4"))

        let opened = try await stage.run(["open", "span.tdf", "--output", "span.mp4", "--json"] + Self.key)
        #expect(opened.status == 0, "\(opened.errors)")
        let document = try Self.document(opened)
        #expect(document.profile == "p" && document.verified == .content && document.stream == "front")
        #expect(document.segments == 1, "segments have six seconds, whatever fragments there are")
        let span = try RecordingStage.events(of: stage.path("span.mp4"))
        #expect(!film.videoData.isEmpty && span.videoData == film.videoData)
        #expect(!film.audioData.isEmpty && span.audioData == film.audioData)
        // In the file itself none of them is to be found.
        let bytes = Data(try stage.bytes("span.tdf"))
        let clear = film.videoData.filter { $0.count > 600 && bytes.range(of: Data($0.suffix(400))) != nil }
        #expect(clear.isEmpty && film.videoData.contains { $0.count > 600 })
        #expect(bytes.range(of: Data("cbcs".utf8)) != nil)

        for (more, verified) in [([], ArchiveDocument.Verified.structure), (Self.key, .content)] {
            let outcome = try await stage.run(["verify", "span.tdf", "--json"] + more)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try Self.document(outcome).verified == verified)
        }
        let playable = try await stage.run(["playability", "span.tdf"] + Self.key)
        #expect(playable.output.contains("fairplay-ready"), "\(playable.errors)")
        let part = try await stage.run(["export", "./span.tdf", "--output", "part.mp4"] + Self.key)
        #expect(part.status == ExitStatus.usage.rawValue && part.errors.contains("profile P"), "\(part.errors)")
    }

    @Test func `a fragmented film in a file goes in, another one is refused with what makes one of it`() async throws {
        let stage = try Self.stage()
        let time = ["--from", "2026-11-28T10:00:05.700", "--to", "2026-11-28T10:00:09.100"]
        try await run(
            stage, ["export", "front", "--directory", "recordings", "--output", "plain.mp4"] + time + Self.key)
        let seal = ["--profile", "p", "--kas-key", "kas.pem", "--kas", "https://kas.example.net"]
        let refused = try await stage.run(["create", "--file", "plain.mp4", "--output", "plain.tdf"] + seal)
        #expect(refused.status == ExitStatus.failed.rawValue, "\(refused.errors)")
        #expect(refused.errors.contains("frag_keyframe"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: stage.path("plain.tdf")))

        try await run(
            stage,
            ["create", "front", "--directory", "recordings", "--profile", "s", "--output", "s.tdf"] + time + Self.key
                + ["--kas-key", "kas.pem", "--kas", "https://kas.example.net"])
        try await run(stage, ["open", "s.tdf", "--output", "fragmented.mp4"] + Self.key)
        let created = try await stage.run(
            ["create", "--file", "fragmented.mp4", "--stream", "door", "--output", "p.tdf", "--json"] + seal)
        #expect(created.status == 0, "\(created.errors)")
        let document = try Self.document(created)
        #expect(document.profile == "p" && document.stream == "door")
        try await run(stage, ["open", "p.tdf", "--output", "again.mp4"] + Self.key)
        let (again, film) = try (
            RecordingStage.events(of: stage.path("again.mp4")), RecordingStage.events(of: stage.path("fragmented.mp4"))
        )
        #expect(!film.videoData.isEmpty && again.videoData == film.videoData && again.audioData == film.audioData)
        #expect(again.videoTimes == film.videoTimes && again.audioTimes == film.audioTimes)

        // Another archive's key, and a byte that somebody changed.
        var bytes = try stage.bytes("p.tdf")
        bytes[bytes.count / 2] ^= 1
        try stage.write(bytes, "bad.tdf")
        for output in ["bad.mp4", "-"] {
            let bad = try await stage.run(["open", "bad.tdf", "--output", output] + Self.key)
            #expect(bad.status == ExitStatus.failed.rawValue, "\(bad.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: stage.path("bad.mp4")))
    }

    private func run(_ stage: RecordingStage, _ arguments: [String]) async throws {
        let outcome = try await stage.run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
    }
}
