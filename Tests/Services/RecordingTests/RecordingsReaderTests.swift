import Archive
import ControlAPI
import ErrorCatalog
import Foundation
import Glibc
import Testing

@testable import Recording

/// What a camera's process says of the files that are there.
struct RecordingsReaderTests {
    /// 2026-11-28 00:00 UTC.
    private static let midnight: Int64 = 1_795_824_000_000

    private let stage: RecordingStage
    private var reader: RecordingsReader { RecordingsReader(camera: "front", directory: stage.directory) }

    init() throws { stage = try RecordingStage() }

    private func put(_ file: String, _ count: Int = 3) throws {
        try Data(repeating: 7, count: count).write(to: URL(filePath: "\(stage.directory)/\(file)"))
    }

    private static func file(_ minute: Int64) -> String {
        RecordingName(sequence: UInt64(minute), begin: midnight + minute * 60_000, duration: 60_000).fileName
    }

    private func page(
        _ query: RecordingsQuery, minute: Int64 = 100
    ) async throws(CodedError) -> RecordingsDocument.Camera {
        try await reader.page(query, now: Self.midnight + minute * 60_000)
    }

    @Test func `a camera without recordings has an empty list`() async throws {
        let empty = RecordingsDocument.Camera(camera: "front", recordings: [])
        for directory in [nil, stage.directory, stage.directory + "/none"] {
            let answer = try await RecordingsReader(camera: "front", directory: directory).page(.init())
            #expect(answer == empty)
        }
    }

    @Test func `it is the last day unless somebody asks for another time`() async throws {
        for minute in Int64(0)..<1500 { try put(Self.file(minute)) }
        let day = try await page(.init(limit: 400), minute: 1500)
        // The 60th has ended when the day begins.
        #expect(day.recordings?.first?.file == Self.file(60))
        #expect(day.recordings?.count == 400 && day.next == Self.file(459))
        #expect(day.from == "2026-11-28T01:00:00.000Z" && day.gaps == [], "the one before goes on")
        let before = try await page(.init(to: Self.midnight + 10 * 60_000))
        #expect(before.recordings?.map(\.file) == (0..<10).map(Self.file))
        let since = try await page(.init(from: Self.midnight + 1490 * 60_000, limit: 4), minute: 1500)
        #expect(since.recordings?.map(\.file) == (1490..<1494).map(Self.file))
        // A clock that was set back hides nothing that is newer.
        #expect(try await page(.init(from: Self.midnight + 1490 * 60_000), minute: 0).files == 10)
    }

    @Test func `pages go on while recordings come, go, and are pinned`() async throws {
        for minute in Int64(0)..<10 { try put(Self.file(minute)) }
        let first = try await page(.init(limit: 4))
        #expect(first.recordings?.map(\.file) == (0..<4).map(Self.file) && first.next == Self.file(3))
        try put(Self.file(10))
        for minute in Int64(0)..<4 { #expect(unlink("\(stage.directory)/\(Self.file(minute))") == 0) }
        let pinned = Self.file(4).replacing(".tdf", with: "-pinned.tdf")
        #expect(rename("\(stage.directory)/\(Self.file(4))", "\(stage.directory)/\(pinned)") == 0)
        let second = try await page(.init(limit: 4, after: first.next))
        #expect(second.recordings?.map(\.file) == [pinned] + (5..<8).map(Self.file) && second.next == Self.file(7))
        let last = try await page(.init(limit: 4, after: second.next))
        #expect(last.recordings?.map(\.file) == (8..<11).map(Self.file) && last.next == nil)
    }

    @Test func `other files, links and directories are no recordings`() async throws {
        try put(Self.file(1))
        for file in ["film.tdf", "\u{1b}[2J.tdf", "00000002-20261128T000200000Z-060000.tdf", "lost+found", ".probe"] {
            try put(file)
        }
        #expect(symlink("/etc/passwd", "\(stage.directory)/\(Self.file(2))") == 0)
        #expect(mkdir("\(stage.directory)/\(Self.file(3))", 0o700) == 0)
        let answer = try await page(.init())
        #expect(answer.recordings?.map(\.file) == [Self.file(1)] && answer.bytes == 3)
    }

    @Test func `what is being recorded is said as archive list says it`() async throws {
        try put(Self.file(1))
        try put("00000002.part")
        try put("00000002.journal")
        let left = try await page(.init())
        #expect(left.unfinished == 1 && !left.recordsNow)
        let recorder = open(stage.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(recorder) }
        #expect(flock(recorder, LOCK_EX | LOCK_NB) == 0)
        let recording = try await page(.init())
        #expect(recording.unfinished == 0 && recording.recordsNow)
        let look = try RecordingDirectory(stage.directory).look()
        let range = RecordingRange(from: 0, to: .max)
        let all = try await page(.init(from: 0))
        #expect(all == .init("front", look.listing(between: range), hasFiles: true))
    }

    @Test(arguments: [
        "x", "00000001.part", "00000001-20261128T000100000Z-60000.TDF", "1-20261128T000100000Z-60000.tdf",
    ])
    func `a page goes on behind a recording only`(after: String) async throws {
        let error = await #expect(throws: CodedError.self) { try await page(.init(after: after)) }
        #expect(error?.code == .badRequest && error?.hint?.isEmpty == false)
    }

    @Test func `a directory that cannot be read is an error that names it`() async throws {
        try put("file")
        let reader = RecordingsReader(camera: "front", directory: stage.directory + "/file")
        let error = await #expect(throws: CodedError.self) { try await reader.page(.init()) }
        #expect(error?.code == .recordingFailed && error?.why?.contains(stage.directory) == true)
        #expect(error?.object == "front")
    }
}
