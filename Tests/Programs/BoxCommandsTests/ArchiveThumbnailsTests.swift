import Console
import Cryptography
import Foundation
import Media
import MediaFile
import NanoTDF
import TDF
import TestSupport
import Testing

@testable import Archive
@testable import BoxCommands
@testable import VideoCodec

/// `watchboxctl archive thumbnails`, the program itself with its decoder, on what a camera would have recorded.
@Suite(.timeLimit(.minutes(15)), .ownThread) struct ArchiveThumbnailsTests {
    private static let begin = ArchiveExportTests.begin
    private static let film = ArchiveExportTests.film

    private static func thumbnails(
        _ stage: RecordingStage, _ more: [String] = [], key: String = "kas.key.pem", output: String = "page"
    ) async throws -> ProgramRun {
        try await stage.run(
            ["thumbnails", "front", "--key", key, "--output", output, "--directory", "recordings"] + more)
    }

    private static func document(_ outcome: ProgramRun) throws -> ThumbnailsDocument {
        try JSONDecoder().decode(ThumbnailsDocument.self, from: Data(outcome.bytes))
    }

    private static func text(_ stage: RecordingStage) throws -> String {
        String(decoding: try stage.bytes("page/index.html"), as: UTF8.self)
    }

    /// The pictures of a page, in their order.
    private static func pictures(_ stage: RecordingStage) throws -> [[UInt8]] {
        try text(stage).matches(of: /src="data:image\/jpeg;base64,([A-Za-z0-9+\/=]+)"/).map {
            Array(try #require(Data(base64Encoded: String($0.output.1))))
        }
    }

    /// What the decoder makes of the first frame behind a second of a film.
    private static func picture(_ film: [MediaEvent], _ second: Int64 = 0) throws -> [UInt8] {
        let format = film.compactMap { if case .videoFormat(let format) = $0 { format } else { nil } }.first
        let unit = RecordingStage.part(film, second, second + 1).units.first { $0.track.isVideo }
        return try FrameRequest(
            unit: try #require(unit), format: try #require(format), maxWidth: ThumbnailMaker.width
        ).jpeg()
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Each file below a directory.
    private static func files(below directory: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).filter {
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: "\(directory)/\($0)", isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }
    }

    @Test func `a page has the first frame of each recording, in their order`() async throws {
        let stage = try ArchiveExportTests.stage(gap: 60_000)
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try Self.document(outcome)
        #expect(document.schema == "watchbox.archive.thumbnails/1" && document.path == "page/index.html")
        #expect(document.recordings == 3 && document.every == nil && document.skipped == [])
        #expect(
            document.pictures.map(\.at) == [
                "2026-11-28T09:00:00.000Z", "2026-11-28T09:00:04.000Z", "2026-11-28T09:01:08.000Z",
            ])
        #expect(document.pictures.map(\.file) == (try stage.recordings))
        let expected = try [0, 4, 8].map { try Self.picture(Self.film, $0) }
        #expect(Set(expected).count == 3)
        #expect(try Self.pictures(stage) == expected)
        #expect(document.pictures.map(\.bytes) == expected.map(\.count))
        let page = try Self.text(stage)
        #expect(document.bytes == Int64(page.utf8.count))
        #expect(page.contains("<h2>Sat 2026-11-28 <small>CET, 12 s recorded</small></h2>"), "\(page.prefix(3000))")
        #expect(page.contains(">10:00:04</time> 4.0 s"))
        #expect(page.contains("nothing for 60 s, 2026-11-28 10:00:08 CET to 10:01:08"))
    }

    @Test func `what is clear is in the page alone, which is its owner's`() async throws {
        let stage = try ArchiveExportTests.stage()
        let before = try stage.recordings
        let outcome = try await Self.thumbnails(stage)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output.hasPrefix("page/index.html: 3 pictures of front, of 3 recordings, "), "\(outcome.output)")
        #expect(try Self.mode(stage.path("page")) == 0o700)
        #expect(try Self.mode(stage.path("page/index.html")) == 0o600)
        #expect(try stage.recordings == before)
        let picture = try #require(try Self.pictures(stage).first)
        let signs = [Data(picture.prefix(4)), Data("/9j/".utf8), Data(picture[200..<216])]
        let said = Data(outcome.bytes + outcome.errors.utf8)
        for sign in signs { #expect(said.range(of: sign) == nil) }
        #expect(try Self.files(below: stage.path("page")) == ["index.html"])
        for file in try Self.files(below: stage.directory) where file != "page/index.html" {
            let bytes = Data(try stage.bytes(file))
            #expect(bytes.range(of: signs[2]) == nil && bytes.range(of: Data(picture.prefix(20))) == nil, "\(file)")
        }
    }

    @Test func `one that is damaged has its place and its reason, and those behind it their pictures`() async throws {
        let stage = try ArchiveExportTests.stage()
        let names = try stage.recordings
        var bytes = try stage.bytes("recordings/front/\(names[1])")
        // In the first segment, behind what a decoder needs to begin.
        bytes[Int(TDFContainer.payloadOffset) + 3000] ^= 1
        try stage.write(bytes, "recordings/front/\(names[1])")
        try stage.write([1, 2, 3], "recordings/front/00000004-20261128T090020000Z-1000.tdf")
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try Self.document(outcome)
        #expect(document.pictures.map(\.file) == [names[0], names[2]])
        #expect(document.skipped.map(\.file) == [names[1], "00000004-20261128T090020000Z-1000.tdf"])
        #expect(document.skipped.first?.reason.contains("segment 0: ") == true, "\(document.skipped)")
        #expect(try Self.pictures(stage) == [try Self.picture(Self.film, 0), try Self.picture(Self.film, 8)])
        let page = try Self.text(stage)
        #expect(page.contains("<figure title=\"\(names[1])\"><p>no picture: "), "\(page.suffix(3000))")
        let told = try await Self.thumbnails(stage, ["--force"])
        #expect(told.output.contains("2 pictures of front, of 4 recordings; 2 without one, "), "\(told.output)")
        #expect(told.output.contains("    \(names[1]): no picture: "), "\(told.output)")
    }

    @Test func `where none has a picture nothing is left behind`() async throws {
        let stage = try RecordingStage()
        for number in 1...3 {
            try stage.write([1, 2, 3], "recordings/front/0000000\(number)-20261128T09000\(number)000Z-1000.tdf")
        }
        let outcome = try await Self.thumbnails(stage)
        #expect(outcome.status == ExitStatus.failed.rawValue)
        #expect(
            outcome.errors.contains("none of 3 recordings gives a picture; the first: 00000001-"), "\(outcome.errors)")
        #expect(try stage.files == ["kas.key.pem", "recordings"])
        // A folder that was there stays, with what is in it.
        try FileManager.default.createDirectory(atPath: stage.path("page"), withIntermediateDirectories: false)
        try stage.write([7], "page/other")
        let again = try await Self.thumbnails(stage)
        #expect(again.status == ExitStatus.failed.rawValue)
        #expect(try Self.files(below: stage.path("page")) == ["other"])
    }

    @Test func `another's key ends it with its own status`() async throws {
        let stage = try ArchiveExportTests.stage()
        try stage.write(Array(try RSAPrivateKey.generate(bits: 2048).privateKeyPEM().utf8), "other.pem")
        let outcome = try await Self.thumbnails(stage, key: "other.pem")
        #expect(outcome.status == ExitStatus.notPermitted.rawValue)
        #expect(outcome.errors.contains("was not wrapped for the key in other.pem"), "\(outcome.errors)")
        #expect(try stage.files == ["kas.key.pem", "other.pem", "recordings"])
        let missing = try await Self.thumbnails(stage, key: "nothing.pem")
        #expect(missing.status == ExitStatus.usage.rawValue, "\(missing.errors)")
        // Nobody listens there, and nobody waits for the second recording.
        let port = try FreePort.take()
        try stage.write(Array("token\n".utf8), "token")
        let away = try await stage.run([
            "thumbnails", "front", "--kas", "http://127.0.0.1:\(port)/kas", "--kas-token-file", "token", "--output",
            "page", "--directory", "recordings",
        ])
        #expect(away.status == ExitStatus.remoteUnreachable.rawValue, "\(away.errors)")
        #expect(try !stage.files.contains("page"))
    }

    /// A KAS is asked for each recording: one that refuses is not asked five hundred times, and one that has no time not twice.
    @Test(arguments: [
        (403, 3, Console.ExitStatus.notPermitted), (503, 1, .remoteUnreachable), (429, 1, .remoteUnreachable),
    ])
    func `a KAS that gives no key is asked a few times alone`(answer: Int, asked: Int, status: Console.ExitStatus)
        async throws
    {
        let stage = try RecordingStage()
        for number in 0..<5 {
            try stage.record(
                UInt64(number + 1), at: Self.begin + Int64(number) * 2000, RecordingStage.part(Self.film, 0, 2))
        }
        try stage.write(Array("token\n".utf8), "token")
        let service = RefusingService(status: answer)
        let outcome = try await stage.run([
            "thumbnails", "front", "--kas", "http://127.0.0.1:\(service.port)/kas", "--kas-token-file", "token",
            "--output", "page", "--directory", "recordings",
        ])
        #expect(outcome.status == status.rawValue, "\(outcome.errors)")
        #expect(service.requests == asked)
        #expect(outcome.errors.contains("HTTP \(answer)"), "\(outcome.errors)")
        #expect(try !stage.files.contains("page"))
    }

    @Test func `one that is wrapped for somebody else has no picture, and the status says so`() async throws {
        let stage = try ArchiveExportTests.stage()
        let other = try RSAPrivateKey.generate(bits: 2048)
        let name = RecordingName(sequence: 4, begin: Self.begin + 12_000, duration: 2000)
            .fileName
        let writer = try ArchiveWriter(
            stage.path("recordings/front/\(name)"),
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r2", publicKeyPEM: try other.publicKey.spkiPEM()),
            policy: PlaintextPolicy(stream: "front"), segmentSize: TDFSegmentEntry.maxClearSize)
        for part in try stage.fragments(RecordingStage.part(Self.film, 0, 2)) {
            try writer.write(part[...])
            try writer.endSegment()
        }
        try writer.finish(at: 1_795_863_600)
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == ExitStatus.notPermitted.rawValue, "\(outcome.errors)")
        let document = try Self.document(outcome)
        #expect(document.pictures.count == 3 && document.skipped.map(\.file) == [name])
        #expect(try Self.pictures(stage).count == 3)
    }

    @Test func `an archive of another stream has no picture`() async throws {
        let stage = try ArchiveExportTests.stage()
        let parts = try stage.fragments(RecordingStage.part(Self.film, 0, 2))
        try stage.record(4, at: Self.begin + 12_000, parts, milliseconds: 2000, stream: "<img src=x onerror=alert(1)>")
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try Self.document(outcome)
        #expect(document.pictures.count == 3)
        #expect(document.skipped.first?.reason.contains("it is of the stream") == true, "\(document.skipped)")
        let page = try Self.text(stage)
        #expect(!page.contains("<img src=x") && page.contains("&lt;img src=x onerror=alert(1)&gt;"))
    }

    @Test func `of more recordings one for each part of the clock, and of a time what begins in it`() async throws {
        let stage = try RecordingStage()
        for second in Int64(0)..<12 {
            try stage.record(
                UInt64(second + 1), at: Self.begin + second * 1000, RecordingStage.part(Self.film, second, second + 1))
        }
        let some = try await Self.thumbnails(stage, ["--every", "5s", "--json"])
        let document = try Self.document(some)
        #expect(document.every == 5 && document.recordings == 12)
        #expect(try Self.pictures(stage) == [0, 5, 10].map { try Self.picture(Self.film, $0) })
        let part = try await Self.thumbnails(
            stage, ["--from", "2026-11-28T10:00:02.500", "--to", "2026-11-28T10:00:05.500", "--json", "--force"])
        #expect(try Self.document(part).pictures.map(\.at).first == "2026-11-28T09:00:03.000Z", "\(part.errors)")
        #expect(try Self.pictures(stage) == [3, 4, 5].map { try Self.picture(Self.film, $0) })
        let day = try await Self.thumbnails(stage, ["--day", "2026-11-28", "--json", "--force"])
        #expect(try Self.document(day).pictures.count == 12, "\(day.errors)")
        let empty = try await Self.thumbnails(stage, ["--day", "2026-11-29", "--force"])
        #expect(empty.status == ExitStatus.notFound.rawValue)
        #expect(
            empty.errors.contains("nothing of front is recorded from 2026-11-29 00:00:00 CET to 2026-11-30 00:00:00"),
            "\(empty.errors)")
        for (options, words) in [
            (["--day", "10:00"], "--day: '10:00' is no time"),
            (["--day", "2026-11-31"], "--day: there is no such time"),
            (["--day", "today", "--from", "10:00"], "leave out either it or --from and --to"),
            (["--from", "10:00"], "--to is missing"), (["--every", "0"], "--every"),
        ] {
            let refused = try await Self.thumbnails(stage, options + ["--force"])
            #expect(refused.status != 0 && refused.errors.contains(words), "\(options): \(refused.errors)")
        }
    }

    @Test func `what is no film at its beginning is not read to its end`() async throws {
        let stage = try RecordingStage()
        try stage.record(1, at: Self.begin, RecordingStage.part(Self.film, 0, 1))
        // An MP4 whose index is at its end.
        let writer = MediaWriter(.mp4, to: .file(path: stage.path("film")))
        for event in RecordingStage.part(Self.film, 0, 4) { try writer.write(event) }
        try writer.finish()
        let bytes = try stage.bytes("film")
        try stage.record(
            2, at: Self.begin + 1000, [Array(bytes[..<1000]), Array(bytes[1000...])], milliseconds: 4000)
        try stage.record(3, at: Self.begin + 5000, [bytes], milliseconds: 4000)
        try stage.record(4, at: Self.begin + 9000, [[UInt8](repeating: 7, count: 5000)], milliseconds: 4000)
        // Of sound alone.
        let sound = RecordingStage.part(Self.film, 0, 2).filter {
            switch $0 {
            case .videoFormat: false
            case .audioFormat: true
            case .accessUnit(let unit): !unit.track.isVideo
            }
        }
        try stage.record(5, at: Self.begin + 13_000, stage.fragments(sound), milliseconds: 2000)
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        let document = try Self.document(outcome)
        let names = try stage.recordings
        // One segment is all that is read of any.
        #expect(document.pictures.map(\.file) == [names[0], names[2]])
        #expect(document.skipped.map(\.file) == [names[1], names[3], names[4]])
        #expect(document.skipped.first?.reason.contains("is no film of its own") == true, "\(document.skipped)")
        #expect(document.skipped.last?.reason.contains("there is no key frame") == true, "\(document.skipped)")
    }

    private static let hevc = try? RecordingStage.pattern(seconds: 1, encoder: "libx265")

    @Test(.enabled(if: Self.hevc != nil, "libx265 is not installed"))
    func `of H.265 as well, and large frames become small pictures`() async throws {
        let stage = try RecordingStage()
        let hevc = try #require(Self.hevc)
        try stage.record(1, at: Self.begin, hevc)
        let large = try RecordingStage.pattern(seconds: 1, width: 1280, height: 720)
        try stage.record(2, at: Self.begin + 1000, large)
        let outcome = try await Self.thumbnails(stage)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let pictures = try Self.pictures(stage)
        #expect(pictures == [try Self.picture(hevc), try Self.picture(large)])
        let size = try pictures[1].withUnsafeBytes { bytes in
            let frame = try JPEGDecoder().decode(bytes)
            return [frame.width, frame.height]
        }
        #expect(size == [320, 180])
    }

    @Test func `what is being recorded has its picture before it is over`() async throws {
        let stage = try RecordingStage()
        try stage.record(1, at: Self.begin, RecordingStage.part(Self.film, 0, 4))
        try stage.beginRecording()
        let archive = try GrowingArchive(
            RecordingName.stem(2), in: stage.path("recordings/front"),
            recipient: TDFRecipient(
                url: "https://kas.example.net/kas", kid: "r1", publicKeyPEM: try RecordingStage.key.publicKey.spkiPEM()),
            policy: PlaintextPolicy(stream: "front"), begin: Self.begin + 4000)
        for part in try stage.fragments(RecordingStage.part(Self.film, 4, 6)) {
            try archive.append(part[...], milliseconds: 1000)
        }
        let outcome = try await Self.thumbnails(stage, ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try Self.document(outcome).pictures.last?.file == "00000002.part")
        #expect(try Self.pictures(stage) == [try Self.picture(Self.film, 0), try Self.picture(Self.film, 4)])
        withExtendedLifetime(archive) {}
    }

    @Test func `a page that is there stays, unless somebody says so`() async throws {
        let stage = try ArchiveExportTests.stage()
        try FileManager.default.createDirectory(atPath: stage.path("page"), withIntermediateDirectories: false)
        try stage.write([7], "page/index.html")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: stage.path("page/index.html"))
        let refused = try await Self.thumbnails(stage)
        #expect(refused.status == ExitStatus.usage.rawValue && refused.errors.contains("--force"), "\(refused.errors)")
        #expect(try stage.bytes("page/index.html") == [7])
        let forced = try await Self.thumbnails(stage, ["--force"])
        #expect(forced.status == 0, "\(forced.errors)")
        #expect(try Self.pictures(stage).count == 3)
        #expect(try Self.mode(stage.path("page/index.html")) == 0o600, "whatever the old one had")
        let noFolder = try await Self.thumbnails(stage, output: "kas.key.pem")
        #expect(
            noFolder.status == ExitStatus.usage.rawValue && noFolder.errors.contains("no folder"), "\(noFolder.errors)")
        let nowhere = try await Self.thumbnails(stage, output: "no/where")
        #expect(nowhere.status == ExitStatus.usage.rawValue, "\(nowhere.errors)")
        #expect(try stage.files == ["kas.key.pem", "page", "recordings"])
    }
}
