import Foundation
import Glibc
import Platform
import Testing

@testable import Archive

struct RecordingDirectoryTests {
    private let stage: ArchiveStage
    private var directory: RecordingDirectory { RecordingDirectory(stage.directory) }

    init() throws { stage = try ArchiveStage() }

    private func put(_ name: String, _ count: Int = 0) throws {
        try ArchiveStage.write([UInt8](repeating: 7, count: count), stage.path(name))
    }

    private static func name(_ sequence: UInt64, pinned: Bool = false) -> RecordingName {
        // The clock may go back.
        RecordingName(
            sequence: sequence, begin: 2_000_000_000_000 - Int64(sequence) * 60_000, duration: 60_000, isPinned: pinned)
    }

    @Test func `recordings come in the order in which they were made, whatever the clock said`() throws {
        #expect(try directory.list() == .init())
        for sequence: UInt64 in [100_000_000, 3, 12, 99_999_999, 1] {
            try put(Self.name(sequence, pinned: sequence == 12).fileName, Int(sequence % 10))
        }
        for name in ["00000014.part", "00000014.journal", "00000013.journal", "100000001.part"] { try put(name) }
        let listing = try directory.list()
        #expect(listing.recordings.map(\.name.sequence) == [1, 3, 12, 99_999_999, 100_000_000])
        #expect(listing.recordings.map(\.size) == [1, 3, 2, 9, 0])
        #expect(listing.recordings.map(\.name.isPinned) == [false, false, true, false, false])
        #expect(listing.growing == [13, 14, 100_000_001])
        #expect(directory.path(of: listing.recordings[0].name) == stage.path(Self.name(1).fileName))
    }

    @Test func `other files are nobody's business, and stay`() throws {
        for name in [
            "film.tdf", "1.part", "000000001.part", "0000000x.journal", ".part", "00000001.part.new", "lost+found",
            "00000001",
            ".00000001.part",
        ] { try put(name) }
        let before = stage.files
        #expect(try directory.list() == .init())
        #expect(stage.files == before)
    }

    @Test func `links and directories are no recordings`() throws {
        try put("target", 5)
        #expect(symlink(stage.path("target"), stage.path(Self.name(1).fileName)) == 0)
        #expect(mkdir(stage.path(Self.name(2).fileName), 0o700) == 0)
        #expect(mkfifo(stage.path(Self.name(3).fileName), 0o600) == 0)
        #expect(try directory.list() == .init())
    }

    @Test func `who records into it has locked it`() throws {
        #expect(try !directory.isWritten())
        let recorder = open(stage.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(recorder, LOCK_EX | LOCK_NB) == 0)
        #expect(try directory.isWritten())
        close(recorder)
        #expect(try !directory.isWritten())
        // Asking leaves nothing behind that a recorder would stumble over.
        let next = open(stage.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #expect(flock(next, LOCK_EX | LOCK_NB) == 0)
        close(next)
        #expect(throws: FileFailure.self) { try RecordingDirectory(stage.path("none")).isWritten() }
    }

    @Test func `a journal alone is no recording that can be finished`() throws {
        for name in ["00000014.part", "00000014.journal", "00000013.journal"] { try put(name) }
        #expect(mkdir(stage.path("00000012.part"), 0o700) == 0)
        #expect(try directory.withFrames(directory.list().growing) == [14])
    }

    @Test func `a directory that is not there is said`() throws {
        let path = stage.path("none")
        #expect(throws: FileFailure(call: "open", path: path, number: ENOENT)) {
            try RecordingDirectory(path).list()
        }
    }

    /// A week of minutes: one look at each name, no file opened.
    @Test func `ten thousand recordings are listed in a moment`() throws {
        for sequence in 1...UInt64(10_000) {
            let descriptor = open(stage.path(Self.name(sequence).fileName), O_CREAT | O_WRONLY, 0o600)
            #expect(descriptor >= 0)
            close(descriptor)
        }
        try put("00010001.part")
        try put("00010001.journal")
        let clock = ContinuousClock()
        var listing = RecordingDirectory.Listing()
        let time = try clock.measure { listing = try directory.list() }
        #expect(listing.recordings.map(\.name.sequence) == Array(1...10_000))
        #expect(listing.growing == [10_001])
        // The promise is one second, on a machine that does nothing else.
        #expect(time < .seconds(5))
    }
}
