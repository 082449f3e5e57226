import Archive
import Console
import Cryptography
import Foundation
import KeyAccess
import NanoTDF
import TDF
import TDFCryptography
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive create CAMERA`, the program itself, on what a camera would have recorded.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveBindTests {
    private static func create(
        _ stage: RecordingStage, _ output: String, _ more: [String] = [], from: String = "2026-11-28T10:00",
        to: String = "2026-11-28T10:01"
    ) async throws -> ProgramRun {
        try await stage.run(
            ["create", "front", "--from", from, "--to", to, "--directory", "recordings", "--output", output] + more)
    }

    private static func document(_ outcome: ProgramRun) throws -> BinderDocument {
        try JSONDecoder().decode(BinderDocument.self, from: Data(outcome.bytes))
    }

    /// What Python's zipfile unpacks, by name.
    private static func unpacked(_ stage: RecordingStage, _ name: String) throws -> [String: [UInt8]] {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-m", "zipfile", "-e", stage.path(name), stage.path("unpacked")]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        var files: [String: [UInt8]] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: stage.path("unpacked")) {
            files[file] = try stage.bytes("unpacked/\(file)")
        }
        return files
    }

    @Test func `recordings are bound as they are, without a key`() async throws {
        let stage = try ArchiveExportTests.stage(gap: 30_000)
        let outcome = try await Self.create(stage, "front.zip")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("front.zip: written, each recording as it is."), "\(outcome.output)")
        #expect(outcome.output.contains("3 recordings of front"), "\(outcome.output)")
        #expect(outcome.output.contains("2026-11-28 10:00:00 CET to 10:00:08"), "\(outcome.output)")
        #expect(outcome.output.contains("2026-11-28 10:00:38 CET to 10:00:42"), "\(outcome.output)")
        let mode = try FileManager.default.attributesOfItem(atPath: stage.path("front.zip"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let files = try Self.unpacked(stage, "front.zip")
        #expect(files.keys.sorted() == (try stage.recordings) + ["index.json"])
        for name in try stage.recordings {
            #expect(files[name] == (try stage.bytes("recordings/front/\(name)")))
        }
        let index = try JSONSerialization.jsonObject(with: Data(files["index.json"] ?? [])) as? [String: Any]
        #expect(index?["schema"] as? String == "watchbox.binder/1" && index?["camera"] as? String == "front")
        #expect(index?["from"] as? String == "2026-11-28T09:00:00.000Z")
    }

    @Test func `a part of the time is what overlaps it, and --json says what`() async throws {
        let stage = try ArchiveExportTests.stage()
        let outcome = try await Self.create(
            stage, "front.zip", ["--json"], from: "2026-11-28T10:00:05", to: "2026-11-28T10:00:07")
        let document = try Self.document(outcome)
        #expect(document.recordings == 1 && document.verified == .structure && document.recordsNow == false)
        #expect(document.spans.map(\.from) == ["2026-11-28T09:00:04.000Z"])
        let size = try stage.bytes("front.zip").count
        #expect(document.size == size)
        #expect(try stage.files == ["front.zip", "kas.key.pem", "recordings"])
    }

    @Test func `a binder is verified, and a film comes out of it as out of the recordings`() async throws {
        let stage = try ArchiveExportTests.stage()
        #expect(try await Self.create(stage, "front.zip").status == 0)
        let structure = try await stage.run(["verify", "front.zip", "--json"])
        #expect(structure.status == 0, "\(structure.errors)")
        #expect(try Self.document(structure).verified == .structure)
        let content = try await stage.run(["verify", "front.zip", "--key", "kas.key.pem", "--json"])
        #expect(content.status == 0, "\(content.errors)")
        #expect(try Self.document(content).verified == .content)
        for (from, to) in [("2026-11-28T10:00:05.700", "2026-11-28T10:00:09.100"), ("5.7", "9.1")] {
            let outcome = try await stage.run([
                "export", "front.zip", "--from", from, "--to", to, "--key", "kas.key.pem", "--output", "bound.mp4",
                "--force",
            ])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.output.contains("from 2 archives."), "\(outcome.output)")
            let events = try RecordingStage.events(of: stage.path("bound.mp4"))
            #expect(events.videoData == Array(ArchiveExportTests.film.videoData[125..<228]))
        }
        let opened = try await stage.run(["open", "front.zip", "--key", "kas.key.pem", "--output", "x.mp4"])
        #expect(opened.status == ExitStatus.usage.rawValue, "\(opened.errors)")
        #expect(opened.errors.contains("archive export"), "\(opened.errors)")
        let nothing = try await stage.run([
            "export", "front.zip", "--from", "600", "--to", "700", "--key", "kas.key.pem", "--output", "x.mp4",
        ])
        #expect(nothing.status == ExitStatus.notFound.rawValue, "\(nothing.errors)")
    }

    @Test func `a recording that is damaged is told by its name, and none is bound`() async throws {
        let stage = try ArchiveExportTests.stage()
        #expect(try await Self.create(stage, "front.zip").status == 0)
        var bytes = try stage.bytes("front.zip")
        bytes[bytes.count / 2] ^= 1
        try stage.write(bytes, "bad.zip")
        let name = try stage.recordings[1]
        let verified = try await stage.run(["verify", "bad.zip"])
        #expect(verified.status == ExitStatus.failed.rawValue)
        #expect(verified.errors.contains("bad.zip was not verified, because of \(name)"), "\(verified.errors)")
        let path = "recordings/front/\(name)"
        try stage.write(Array(try stage.bytes(path).dropLast(30)), path)
        let refused = try await Self.create(stage, "other.zip")
        #expect(refused.status == ExitStatus.failed.rawValue)
        #expect(refused.errors.contains("because of \(name)") && refused.errors.contains("or go round it: --to"))
        #expect(try stage.files == ["bad.zip", "front.zip", "kas.key.pem", "recordings"])
    }

    @Test func `damage within a recording is noticed before it is bound`() async throws {
        let stage = try ArchiveExportTests.stage()
        let name = try stage.recordings[1]
        let path = "recordings/front/\(name)"
        let whole = try stage.bytes(path)
        var bytes = whole
        bytes[bytes.count / 2] ^= 1
        try stage.write(bytes, path)
        let refused = try await Self.create(stage, "front.zip")
        #expect(refused.status == ExitStatus.failed.rawValue, "\(refused.output)")
        #expect(refused.errors.contains("because of \(name)") && refused.errors.contains("CRC-32"))
        #expect(refused.errors.contains("or go round it: --to 2026-11-28T09:00:04.000Z"), "\(refused.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
        try stage.write(whole, path)
        #expect(try await Self.create(stage, "front.zip").status == 0)
    }

    @Test func `of a recording and its pinned copy one is bound, and two of one number are told`() async throws {
        let stage = try ArchiveExportTests.stage()
        let first = try stage.recordings[0]
        let pinned = first.replacing(".tdf", with: "-pinned.tdf")
        try stage.write(try stage.bytes("recordings/front/\(first)"), "recordings/front/\(pinned)")
        #expect(try await Self.create(stage, "front.zip").status == 0)
        let binder = try BinderReader(stage.path("front.zip"))
        #expect(binder.recordings.map(\.name.fileName) == [pinned] + (try stage.recordings).suffix(2))
        let exported = try await stage.run([
            "export", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T10:01", "--directory", "recordings",
            "--key", "kas.key.pem", "--output", "film.mp4",
        ])
        #expect(exported.output.contains("from 3 archives."), "\(exported.output) \(exported.errors)")
        // Of another machine's camera.
        let other = try stage.record(
            2, at: ArchiveExportTests.begin + 6000, RecordingStage.part(ArchiveExportTests.film, 0, 2))
        let refused = try await Self.create(stage, "other.zip")
        #expect(refused.status == ExitStatus.usage.rawValue, "\(refused.output)")
        let otherName = try #require(other.split(separator: "/").last.map(String.init))
        for name in [otherName, try stage.recordings.first { $0.hasPrefix("00000002-") && $0 != otherName } ?? "none"] {
            #expect(refused.errors.contains(name), "\(refused.errors)")
        }
        #expect(!(try stage.files.contains("other.zip")))
    }

    @Test func `with keys a binder is of one stream, and nobody says that none is missing`() async throws {
        let stage = try ArchiveExportTests.stage()
        #expect(try await Self.create(stage, "front.zip").status == 0)
        let verify = ["verify", "front.zip", "--key", "kas.key.pem"]
        let text = try await stage.run(verify)
        #expect(text.output.contains("of stream front"), "\(text.output)")
        #expect(text.output.contains("nobody vouches that none is missing"), "\(text.output)")
        #expect(try Self.document(try await stage.run(verify + ["--json"])).stream == "front")
        #expect(try Self.document(try await stage.run(["verify", "front.zip", "--json"])).stream == nil)
        try stage.record(
            4, at: ArchiveExportTests.begin + 12_000,
            stage.fragments(RecordingStage.part(ArchiveExportTests.film, 0, 2)), milliseconds: 2000, stream: "yard")
        #expect(try await Self.create(stage, "front.zip", ["--force"]).status == 0)
        let refused = try await stage.run(verify)
        #expect(refused.status == ExitStatus.failed.rawValue, "\(refused.output)")
        #expect(refused.errors.contains("of the stream 'yard', and those before it are of the stream 'front'"))
    }

    @Test func `what a power cut left is told`() async throws {
        let stage = try ArchiveExportTests.stage()
        try stage.write([], "recordings/front/00000004.part")
        let bound = try await Self.create(stage, "front.zip")
        #expect(bound.status == 0 && bound.output.contains("1 unfinished: it is finished when"), "\(bound.output)")
        #expect(try Self.document(try await Self.create(stage, "front.zip", ["--force", "--json"])).unfinished == 1)
        let past = try await Self.create(stage, "front.zip", ["--force"], to: "2026-11-28T10:00:06")
        #expect(past.status == 0 && !past.output.contains("unfinished"), "it goes on behind what is there")
        let none = try await Self.create(stage, "x.zip", from: "2026-11-28T10:10", to: "2026-11-28T10:20")
        #expect(none.errors.contains("1 unfinished"), "\(none.errors)")
    }

    @Test func `what makes no sense is refused, and nothing is replaced unasked`() async throws {
        let stage = try ArchiveExportTests.stage()
        try stage.write([1], "there.zip")
        for (output, more) in [
            ("front.tdf", []), ("front.zip", ["--key", "kas.key.pem"]), ("front.zip", ["--dissem", "alice"]),
            ("front.zip", ["--file", "film.mp4"]), ("there.zip", []), ("-", []),
            ("front.tdf", ["--profile", "s", "--key", "kas.key.pem", "--kas-token-file", "alice.token"]),
            ("front.tdf", ["--profile", "s", "--stream", "door"]), ("front.tdf", ["--profile", "x"]),
        ] {
            let refused = try await Self.create(stage, output, more)
            #expect(refused.status == ExitStatus.usage.rawValue, "\(output) \(more): \(refused.output)")
        }
        let token = try await Self.create(stage, "front.zip", ["--kas-token-file", "alice.token"])
        #expect(token.errors.contains("--kas-token-file: recordings are bound as they are"), "\(token.errors)")
        let none = try await Self.create(stage, "x.zip", from: "2026-11-27T10:00", to: "2026-11-27T11:00")
        #expect(none.status == ExitStatus.notFound.rawValue, "\(none.errors)")
        let file = try await stage.run(["create", "--file", "x.mp4", "--from", "10:00", "--output", "x.tdf"])
        #expect(file.status == ExitStatus.usage.rawValue)
        #expect(try stage.bytes("there.zip") == [1])
        #expect(try await Self.create(stage, "there.zip", ["--force"]).status == 0)
        #expect(try stage.files == ["kas.key.pem", "recordings", "there.zip"])
    }
}
