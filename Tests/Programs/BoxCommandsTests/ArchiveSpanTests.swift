import Archive
import Console
import Cryptography
import Foundation
import Glibc
import KeyAccess
import KeyAccessClient
import MediaFile
import NanoTDF
import Settings
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive create CAMERA --profile s`: one archive of what a camera would have recorded.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveSpanTests {
    private static let time = ["--from", "2026-11-28T10:00:05.700", "--to", "2026-11-28T10:00:09.100"]

    private static func create(
        _ stage: RecordingStage, _ more: [String] = [], key: String = "kas.key.pem"
    ) async throws -> ProgramRun {
        try stage.write(Array(try RecordingStage.key.publicKey.spkiPEM().utf8), "kas.pem")
        return try await stage.run(
            [
                "create", "front", "--directory", "recordings", "--profile", "s", "--key", key, "--kas-key", "kas.pem",
                "--kas", "https://kas.example.net", "--output", "span.tdf",
            ] + time + more)
    }

    private struct Request: Encodable {
        var file: String
        var privateKey: String
    }
    private struct Opened: Decodable { let plaintext: String? }

    @Test func `its frames are those that an export has`() async throws {
        let stage = try ArchiveExportTests.stage()
        let outcome = try await Self.create(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try ArchiveExportTests.document(outcome)
        #expect(document.archives == 2 && document.stream == "front" && document.videoFrames == 103)
        #expect(document.from == "2026-11-28T09:00:05.000Z")
        #expect(document.profile == "s" && document.kas == "https://kas.example.net/kas")
        #expect(document.attributes == [] && document.dissem == [])
        let exported = try await stage.run(
            ["export", "front", "--directory", "recordings", "--key", "kas.key.pem", "--output", "film.mp4"] + Self.time
        )
        #expect(exported.status == 0, "\(exported.errors)")
        let opened = try await stage.run(["open", "span.tdf", "--key", "kas.key.pem", "--output", "span.mp4"])
        #expect(opened.status == 0, "\(opened.errors)")
        let film = try RecordingStage.events(of: stage.path("film.mp4"))
        let span = try RecordingStage.events(of: stage.path("span.mp4"))
        #expect(!film.videoData.isEmpty && span.videoData == film.videoData)
        #expect(!film.audioData.isEmpty && span.audioData == film.audioData)
        for (left, right) in zip(span.videoTimes, film.videoTimes) { #expect(abs(left - right) <= 2) }
        let distance = (film.audioTimes.first ?? 0) - (film.videoTimes.first ?? 0)
        #expect(abs((span.audioTimes.first ?? 0) - (span.videoTimes.first ?? 0) - distance) <= 2)
        // So little of it is one segment: FragmentGroupsTests say where others begin.
        let archive = try ArchiveReader(stage.path("span.tdf"))
        #expect(archive.map.count == 1 && archive.map.clearSize < 1 << 20)
        #expect(archive.policy?.stream == "front")
        let again = try await stage.run([
            "export", "./span.tdf", "--from", "2", "--to", "3", "--key", "kas.key.pem", "--output", "part.mp4",
        ])
        #expect(again.status == 0, "\(again.errors)")
        let part = try RecordingStage.events(of: stage.path("part.mp4"))
        #expect(part.videoData == Array(film.videoData[50..<75]), "\(part.videoData.count)")
        // Nothing of it is to be read without the key.
        let bytes = try stage.bytes("span.tdf")
        #expect(!String(decoding: bytes, as: Unicode.ASCII.self).contains("moof"))
        #expect(try stage.bytes("span.mp4").count > 1000)
        guard OtdfPython.interpreter != nil else { return }
        let peer: Opened = try await OtdfPython.run(
            "tdf/otdf_archive_peer.py", "open",
            Request(file: stage.path("span.tdf"), privateKey: try RecordingStage.key.privateKeyPEM()))
        let hexadecimal = try stage.bytes("span.mp4").map { String(format: "%02x", $0) }.joined()
        #expect(peer.plaintext == hexadecimal)
    }

    @Test func `who may open the recordings may open it, and nobody else`() async throws {
        let stage = try RecordingStage()
        let family = "https://example.net/attr/role/value/family"
        func record(
            _ sequence: UInt64, from: Int64, to: Int64? = nil, milliseconds: UInt32 = 4000, _ policy: PlaintextPolicy
        ) throws {
            let name = RecordingName(
                sequence: sequence, begin: ArchiveExportTests.begin + from * 1000, duration: milliseconds)
            let writer = try ArchiveWriter(
                stage.path("recordings/front/\(name.fileName)"),
                recipient: TDFRecipient(
                    url: "https://kas.example.net/kas", publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM()),
                policy: policy, segmentSize: TDFSegmentEntry.maxClearSize)
            for part in try stage.fragments(RecordingStage.part(ArchiveExportTests.film, from, to ?? from + 4)) {
                try writer.write(part[...])
                try writer.endSegment()
            }
            try writer.finish(at: 1_795_863_600)
        }
        let policy = PlaintextPolicy(stream: "front", dataAttributes: [family], dissemination: ["alice", "bob"])
        // By its name it has something of the time, and there is no frame of it: so it has no say.
        try record(0, from: 0, to: 2, milliseconds: 8000, PlaintextPolicy(stream: "front", dissemination: ["mallory"]))
        try record(1, from: 4, policy)
        try record(
            2, from: 8, PlaintextPolicy(stream: "front", dataAttributes: [family], dissemination: ["bob", "alice"]))
        let outcome = try await Self.create(stage)
        #expect(outcome.status == 0, "\(outcome.errors)")
        var found = try #require(try ArchiveReader(stage.path("span.tdf")).policy)
        #expect(found.stream == "front" && found.body.dissem == ["alice", "bob"])
        #expect(found.body.dataAttributes.map(\.name) == [family])
        let other = "https://example.net/attr/role/value/guard"
        let narrowed = try await Self.create(stage, ["--force", "--dissem", "eve", "--attribute", other])
        #expect(narrowed.status == 0, "\(narrowed.errors)")
        let lines = narrowed.output
        #expect(
            lines.contains(
                "Profile s, for eve with \(family), \(other), access to stream front, keys from https://kas.example.net/kas"
            ), "\(lines)")
        found = try #require(try ArchiveReader(stage.path("span.tdf")).policy)
        #expect(found.body.dissem == ["eve"] && found.body.dataAttributes.map(\.name) == [family, other])
        try FileManager.default.removeItem(atPath: stage.path("span.tdf"))
        try FileManager.default.removeItem(atPath: stage.path("recordings/front/\(try stage.recordings[2])"))
        // It begins before the one before it ends: the clock was set back.
        try record(3, from: 7, PlaintextPolicy(stream: "front", dissemination: ["alice", "bob"]))
        let refused = try await Self.create(stage)
        #expect(refused.status == ExitStatus.failed.rawValue)
        #expect(refused.errors.contains("one archive has one policy"), "\(refused.errors)")
        #expect(
            refused.errors.contains(
                "make two archives: --to 2026-11-28T09:00:07.000Z, and --from 2026-11-28T09:00:08.000Z"),
            "\(refused.errors)")
        #expect(try stage.files == ["kas.key.pem", "kas.pem", "recordings"])
    }

    @Test func `what one film cannot hold is told as of archives`() async throws {
        let stage = try RecordingStage()
        let begin = ArchiveExportTests.begin
        try stage.record(1, at: begin + 4000, try RecordingStage.pattern(seconds: 2, hasAudio: false))
        try stage.record(2, at: begin + 6000, RecordingStage.part(ArchiveExportTests.film, 0, 4))
        let refused = try await Self.create(stage)
        #expect(refused.status == ExitStatus.failed.rawValue)
        #expect(refused.errors.contains("audio begins at"), "\(refused.errors)")
        #expect(refused.errors.contains("make two archives: --to 2026-11-28T09:00:06.000Z"), "\(refused.errors)")
    }

    @Test func `a film that nobody accepted goes nowhere`() throws {
        let stage = try RecordingStage()
        let target = SealedFilm(
            stage.path("span.tdf"), as: .s,
            for: TDFRecipient(url: "https://kas", publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM())
        ) { _ in PlaintextPolicy() }
        let writer = target.makeWriter([.video, .audio])
        for event in RecordingStage.part(ArchiveExportTests.film, 0, 4) { try writer.write(event) }
        #expect(throws: ArchiveError.self) { try target.take(from: writer) }
        #expect(throws: ArchiveError.self) { try target.finish(replaces: false) { (_) throws(ArchiveError) in } }
        #expect(try stage.files == ["kas.key.pem", "recordings"])
    }

    @Test func `a process with a key leaves no core behind`() throws {
        let stage = try RecordingStage()
        _ = try ArchiveKeySource(
            key: stage.path("kas.key.pem"), KASConfiguration(url: "https://kas"), what: "nothing was opened")
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
        #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
    }

    @Test func `damaged, or without the key, nothing is written`() async throws {
        let stage = try ArchiveExportTests.stage()
        try stage.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.pem")
        let other = try await Self.create(stage, key: "other.pem")
        #expect(other.status == ExitStatus.notPermitted.rawValue, "\(other.errors)")
        let name = try stage.recordings[2]
        var bytes = try stage.bytes("recordings/front/\(name)")
        bytes[200] ^= 1
        try stage.write(bytes, "recordings/front/\(name)")
        let damaged = try await Self.create(stage)
        #expect(damaged.status == ExitStatus.failed.rawValue)
        #expect(damaged.errors.contains("because of \(name)"), "\(damaged.errors)")
        #expect(damaged.errors.contains("segment 0"), "\(damaged.errors)")
        #expect(try stage.files == ["kas.key.pem", "kas.pem", "other.pem", "recordings"])
    }
}
