import Archive
import Console
import ControlAPI
import Foundation
import Platform
import TestSupport
import Testing

@testable import BoxCommands

/// `watchboxctl archive list`, `delete`, `pin` and `unpin`: the program itself, on files with names and nothing in them.
@Suite(.timeLimit(.minutes(15))) struct ArchiveKeepTests {
    /// 2026-11-28 10:00:00 CET.
    private static let begin: Int64 = 1_795_856_400_000

    private static func name(_ index: Int, isPinned: Bool = false) -> String {
        RecordingName(
            sequence: UInt64(index), begin: begin + Int64(index) * 60_000, duration: 60_000, isPinned: isPinned
        ).fileName
    }

    /// Ten minutes, of which the sixth is pinned.
    private static func stage() throws -> RecordingStage {
        let stage = try RecordingStage()
        for index in 0..<10 {
            try stage.write([1, 2, 3], "recordings/front/\(name(index, isPinned: index == 5))")
        }
        try stage.write([], "recordings/front/00000010.part")
        try stage.write([], "recordings/front/00000010.journal")
        try stage.beginRecording()
        return stage
    }

    private func run(_ stage: RecordingStage, _ arguments: String..., variables: [String: String] = [:]) async throws
        -> ProgramRun
    {
        try await stage.run(arguments + ["--directory", "recordings"], variables: variables)
    }

    @Test func `a list is a table, a picture or a document`() async throws {
        let stage = try Self.stage()
        try FileManager.default.createDirectory(
            atPath: stage.path("recordings/Not A Camera"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: stage.path("recordings/garage"), withIntermediateDirectories: true)
        let table = try await run(stage, "list")
        #expect(table.status == 0, "\(table.errors)")
        #expect(
            table.output == """
                front: 10m 00s in 10 recordings, 30 B, 1 pinned; recording now
                  oldest 2026-11-28 10:00:00 CET, newest 2026-11-28 10:10:00 CET
                FROM                     TO                        LENGTH  SIZE  FILES  PINNED  NOT LIVE  THEN
                2026-11-28 10:00:00 CET  2026-11-28 10:10:00 CET  10m 00s  30 B     10       1            recording now

                garage: nothing

                """)
        let picture = try await run(stage, "list", "front", variables: ["COLUMNS": "80"])
        #expect(
            picture.output == """
                front: 10m 00s in 10 recordings, 30 B, 1 pinned; recording now
                  oldest 2026-11-28 10:00:00 CET, newest 2026-11-28 10:10:00 CET
                                0     3     6     9     12    15    18    21    24
                Sat 2026-11-28  ····················▃···························  10m 00s
                        pinned                      ^

                """)
        let part = try await run(
            stage, "list", "front", "--from", "2026-11-28T10:03", "--to", "10:05Z", "--json", "--files")
        let document = try JSONDecoder().decode(RecordingsDocument.self, from: Data(part.bytes))
        #expect(document.schema == "watchbox.recordings/1" && document.directory == "recordings")
        #expect(document.cameras.map(\.camera) == ["front"])
        #expect(document.cameras.first?.recordings?.count == 7)
        #expect(document.cameras.first?.spans.count == 1)
        #expect(document.cameras.first?.from == "2026-11-28T09:03:00.000Z")
    }

    @Test func `where nothing is, or nobody may look, it says what to do`() async throws {
        let stage = try RecordingStage()
        let none = try await stage.run(["list", "--directory", "nowhere"])
        #expect(
            none.status == ExitStatus.notFound.rawValue && none.errors.contains("nothing was ever recorded"),
            "\(none.errors)")
        let camera = try await run(stage, "list", "garage")
        #expect(
            camera.status == ExitStatus.notFound.rawValue && camera.errors.contains("of that camera"),
            "\(camera.errors)")
        for name in ["../front", "Front", "", "front/../front", "-x"] {
            let outcome = try await run(stage, "list", "--", name)
            #expect(outcome.status != 0, "\(name)")
        }
        let time = try await run(stage, "list", "--from", "ten")
        #expect(time.status == ExitStatus.usage.rawValue)
        #expect(
            time.errors.contains("--from: 'ten' is no time") && time.errors.contains("2026-11-28T10:00"),
            "\(time.errors)")
        let backwards = try await run(stage, "list", "--from", "-1h", "--to", "-2h")
        #expect(backwards.status == ExitStatus.usage.rawValue)
        #expect(backwards.errors.contains("is not after --from"), "\(backwards.errors)")
    }

    /// As root this thread becomes somebody else in the eyes of the file system.
    @Test(.enabled(if: Self.setFileUser != nil, "the C library has no setfsuid"))
    func `who may not look is told who may`() throws {
        let stage = try Self.stage()
        let setFileUser = try #require(Self.setFileUser)
        let shelf = RecordingShelf(directory: stage.path("recordings"))
        chmod(shelf.directory, 0)
        defer { chmod(shelf.directory, 0o700) }
        let user = setFileUser(65_534)
        let failure = #expect(throws: CommandFailure.self) { _ = try shelf.cameras(or: "nothing was listed") }
        _ = setFileUser(UInt32(user))
        #expect(failure?.status == .notPermitted && failure?.why.hasPrefix(shelf.directory) == true)
        #expect(failure?.hint.contains("sudo watchboxctl archive") == true, "\(failure?.hint ?? "")")
    }

    private static let setFileUser = dlsym(nil, "setfsuid").map {
        unsafeBitCast($0, to: (@convention(c) (UInt32) -> Int32).self)
    }

    /// With DynamicUser systemd puts a link beside the directory that only root may enter.
    @Test func `cameras are found behind the links that systemd makes, and behind no others`() async throws {
        let stage = try Self.stage()
        try FileManager.default.createDirectory(
            atPath: stage.path("private"), withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: stage.path("recordings/front"), toPath: stage.path("private/front"))
        for (name, target) in [("front", "../private/front"), ("gone", "nowhere"), ("file", "/etc/passwd")] {
            try FileManager.default.createSymbolicLink(
                atPath: stage.path("recordings/\(name)"), withDestinationPath: target)
        }
        let list = try await run(stage, "list", "--json")
        let document = try JSONDecoder().decode(RecordingsDocument.self, from: Data(list.bytes))
        #expect(document.cameras.map(\.camera) == ["front"] && document.cameras.first?.files == 10, "\(list.errors)")
    }

    @Test func `nothing in a time is said so, and what a power cut left is not now`() async throws {
        let stage = try Self.stage()
        let none = try await run(stage, "list", "front", "--from", "2026-11-27", "--to", "2026-11-28")
        #expect(none.output == "front: nothing in that time\n", "\(none.output)")
        let past = try await run(stage, "list", "front", "--to", "2026-11-28T10:10", "--json")
        #expect(
            try JSONDecoder().decode(RecordingsDocument.self, from: Data(past.bytes)).cameras.first?.recordsNow == false
        )
        let later = try await run(stage, "list", "front", "--from", "2026-11-28T10:20", "--to", "2026-11-28T10:30")
        #expect(later.output == "front: nothing in that time; recording now\n", "\(later.output)")
        // Key frames may be a minute apart, and nothing is written between them.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90)],
            ofItemAtPath: stage.path("recordings/front/00000010.part"))
        let pause = try await run(stage, "list", "front", "--from", "2026-11-28T10:20", "--to", "2026-11-28T10:30")
        #expect(pause.output == later.output, "\(pause.output)")
        try stage.write([], "recordings/front/00000010.part")
        stage.endRecording()
        let cut = try await run(stage, "list", "front")
        #expect(
            cut.output.hasPrefix(
                "front: 10m 00s in 10 recordings, 30 B, 1 pinned; 1 unfinished: it is finished when the camera is recorded again\n"
            ), "\(cut.output)")
        #expect(!cut.output.contains("recording now"))
        let json = try await run(stage, "list", "front", "--json")
        let document = try JSONDecoder().decode(RecordingsDocument.self, from: Data(json.bytes))
        #expect(document.cameras.first?.recordsNow == false && document.cameras.first?.unfinished == 1)
        try FileManager.default.removeItem(atPath: stage.path("recordings/front/00000010.part"))
        let journal = try await run(stage, "list", "front")
        #expect(journal.output.hasPrefix("front: 10m 00s in 10 recordings, 30 B, 1 pinned\n"), "\(journal.output)")
        let files = try await run(stage, "list", "front", "--files")
        #expect(files.status == ExitStatus.usage.rawValue && files.errors.contains("--json"), "\(files.errors)")
        let name = try await run(stage, "list", "Front")
        #expect(name.errors.contains("watchboxctl archive list --directory recordings"), "\(name.errors)")
        let quoted = RecordingShelf(directory: "/media/my disk").listHint("front")
        #expect(quoted == "see what is there: watchboxctl archive list front --directory '/media/my disk'")
    }

    @Test func `what is gone is passed over, and what fails says what was done`() throws {
        let stage = try Self.stage()
        let shelf = RecordingShelf(directory: stage.path("recordings"))
        let all = try RecordingDirectory(stage.path("recordings/front")).list().recordings
        func body(_ name: RecordingName, _ failures: [UInt64: Int32]) throws(FileFailure) {
            if let number = failures[name.sequence] { throw FileFailure(call: "x", path: "/x", number: number) }
        }
        let pinned = try shelf.each(all, of: "front", "pinned") { (name) throws(FileFailure) in
            try body(name, [0: ENOENT, 4: ENOENT])
        }
        #expect(pinned.map(\.name.sequence) == [1, 2, 3, 5, 6, 7, 8, 9])
        let failure = #expect(throws: CommandFailure.self) {
            try shelf.each(all, of: "front", "deleted") { (name) throws(FileFailure) in
                try body(name, [1: ENOENT, 3: EIO])
            }
        }
        #expect(failure?.what == "not everything was deleted")
        #expect(
            failure?.why.hasSuffix("; 2 recordings of 10 were deleted before, 6 B") == true, "\(failure?.why ?? "")")
        #expect(failure?.hint.contains("--directory") == true)
        let forbidden = #expect(throws: CommandFailure.self) {
            try shelf.each(all, of: "front", "deleted") { (name) throws(FileFailure) in try body(name, [0: EACCES]) }
        }
        #expect(forbidden?.status == .notPermitted)
    }

    @Test func `deleted is what lies within the time and is not pinned`() async throws {
        let stage = try Self.stage()
        let asked = try await run(stage, "delete", "front", "--from", "2026-11-28T10:03", "--to", "2026-11-28T10:07:30")
        #expect(asked.status == ExitStatus.abortedByUser.rawValue && asked.errors.contains("--yes"), "\(asked.errors)")
        #expect(try stage.recordings.count == 12)
        let half = try await run(stage, "delete", "front", "--from", "2026-11-28T10:03", "--yes")
        #expect(half.status == ExitStatus.usage.rawValue && half.errors.contains("--to is missing"))
        let done = try await run(
            stage, "delete", "front", "--from", "2026-11-28T10:03", "--to", "2026-11-28T10:07:30", "--yes")
        #expect(
            done.output == """
                front: deleted 3 recordings, 9 B, 2026-11-28 10:03:00 CET to 2026-11-28 10:07:00 CET.
                    1 recording stayed: pinned (--pinned deletes these as well)
                    1 recording stayed: partly outside of the time

                """)
        let kept = [0, 1, 2, 5, 7, 8, 9].map { Self.name($0, isPinned: $0 == 5) }
        #expect(try stage.recordings == (kept + ["00000010.journal", "00000010.part"]).sorted())
        let pinned = try await run(
            stage, "delete", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T11:00", "--yes", "--pinned",
            "--json")
        let change = try JSONDecoder().decode(RecordingsChange.self, from: Data(pinned.bytes))
        #expect(change.files == kept && change.keptPinned == 0 && change.recordsNow)
        #expect(try stage.recordings == ["00000010.journal", "00000010.part"])
        let nothing = try await run(stage, "delete", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T11:00")
        #expect(nothing.status == 0 && nothing.output.contains("nothing to be deleted"), "\(nothing.errors)")
        #expect(
            nothing.output.contains("What is being recorded now was not looked at: it can be deleted when"),
            "\(nothing.output)")
    }

    @Test func `pinned is what has something of the time`() async throws {
        let stage = try Self.stage()
        let pinned = try await run(
            stage, "pin", "front", "--from", "2026-11-28T10:03:59", "--to", "2026-11-28T10:06:01")
        #expect(
            pinned.output.hasPrefix("front: pinned 3 recordings, 9 B, 2026-11-28 10:03:00 CET to "), "\(pinned.output)")
        #expect(try stage.recordings.filter { $0.contains("-pinned") } == (3...6).map { Self.name($0, isPinned: true) })
        let unpinned = try await run(
            stage, "unpin", "front", "--from", "2026-11-28T10:00", "--to", "2026-11-28T10:05", "--json")
        let change = try JSONDecoder().decode(RecordingsChange.self, from: Data(unpinned.bytes))
        #expect(change.files == [3, 4].map { Self.name($0) } && change.action == "unpinned")
        #expect(try stage.recordings.filter { $0.contains("-pinned") } == [5, 6].map { Self.name($0, isPinned: true) })
        // Two files of one recording: neither is lost.
        try stage.write([9], "recordings/front/\(Self.name(3, isPinned: true))")
        let twice = try await run(stage, "pin", "front", "--from", "2026-11-28T10:03", "--to", "2026-11-28T10:04")
        #expect(twice.status == ExitStatus.failed.rawValue && twice.errors.contains("already"), "\(twice.errors)")
        #expect(try stage.bytes("recordings/front/\(Self.name(3, isPinned: true))") == [9])
        #expect(try stage.bytes("recordings/front/\(Self.name(3))") == [1, 2, 3])
    }

    @Test func `a hundred thousand other names, and absurd ones, are passed over or counted`() async throws {
        let stage = try Self.stage()
        let directory = stage.path("recordings/front")
        for index in 0..<100_000 {
            let descriptor = open(
                "\(directory)/\(index % 2 == 0 ? "x" : "000")\(index)-y.tdf", O_CREAT | O_WRONLY, 0o600)
            close(descriptor)
        }
        for name in [
            "00000001-99991231T235959999Z-4294967295.tdf", "999999999999-19700101T000000000Z-0.tdf",
            "00000001-99991231T235959999Z-4294967296.tdf", "00000001-20261340T000000000Z-1.tdf", "-.tdf",
            "\u{1B}[2J.tdf",
        ] { try stage.write([0], "recordings/front/\(name)") }
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory)/00000099-20261128T090000000Z-60000.tdf", withDestinationPath: "/etc/passwd")
        let list = try await run(stage, "list", "--json")
        let document = try JSONDecoder().decode(RecordingsDocument.self, from: Data(list.bytes))
        #expect(document.cameras.first?.files == 12)
        let picture = try await run(stage, "list", variables: ["COLUMNS": "100"])
        #expect(picture.status == 0 && picture.output.split(separator: "\n").count < 100, "\(picture.errors)")
        let export = try await run(
            stage, "export", "front", "--from", "1970-01-02", "--to", "9999-12-30", "--key", "kas.key.pem", "--output",
            "film.mp4")
        #expect(
            export.status == ExitStatus.failed.rawValue && export.errors.contains("it was cut, or is no archive"),
            "\(export.errors)")
    }
}
