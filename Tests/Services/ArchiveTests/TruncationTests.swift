import Compression
import Foundation
import TDF
import TestSupport
import Testing

@testable import Archive
@testable import Platform

/// Files that end anywhere.
@Suite(.ownThread) struct ArchiveTruncationTests {
    private let stage: ArchiveStage
    private let part: String
    private let journal: String

    init() throws {
        stage = try ArchiveStage(in: ArchiveStage.memory)
        part = stage.path(GrowingStage.name + GrowingArchive.partSuffix)
        journal = stage.path(GrowingStage.name + GrowingArchive.journalSuffix)
    }

    /// Where each segment ends in the payload.
    private func grow(_ segments: [[UInt8]]) throws -> [Int] {
        let archive = try GrowingStage.archive(in: stage.directory)
        var ends: [Int] = []
        for segment in segments {
            try archive.append(segment[...], milliseconds: 1000)
            ends.append(try ArchiveStage.bytes(part).count)
        }
        return ends
    }

    /// Segments of a GOP's size, longer together than what is cut.
    private static let long: [[UInt8]] = (0..<9).map { index in
        (0..<(3000 + index * 1501)).map { UInt8(truncatingIfNeeded: $0 &+ index) }
    }

    @Test(arguments: 0..<4)
    func `a payload that was cut at any of its last 65536 bytes has each whole segment`(part quarter: Int) throws {
        let ends = try grow(Self.long)
        let whole = try ArchiveStage.bytes(part)
        let last = whole.count - quarter * 16_384
        #expect(whole.count > 65_536 + 59)
        let file = try PlainFile(opening: part)
        try file.truncate(to: Int64(last))
        let read = try #require(ArchiveJournal.read(try ArchiveStage.bytes(journal)) { CRC32($0).value })
        let head = try ManifestJSON.decode(GrowingArchive.Head.self, read.head)
        for size in stride(from: last, through: last - 16_384, by: -1) {
            try file.truncate(to: Int64(size))
            let count = ends.count { $0 <= size }
            let found = try GrowingArchive.Place.content(head, read.entries, of: file)
            guard found.segments.count == count, found.end == Int64(count > 0 ? ends[count - 1] : 59) else {
                Issue.record("cut at byte \(size): \(found.segments.count) segments, and \(count) are whole")
                return
            }
        }
    }

    @Test func `what was cut becomes an archive`() throws {
        let ends = try grow(Self.long)
        let files = try GrowingStage.files(in: stage.directory)
        let whole = try #require(files[GrowingStage.name + GrowingArchive.partSuffix])
        let places = Set(stride(from: whole.count, through: whole.count - 65_536, by: -397))
            .union(ends.flatMap { [$0 - 1, $0, $0 + 1] }).filter { $0 <= whole.count }
        for size in places {
            for (name, bytes) in files { try ArchiveStage.write(bytes, stage.path(name)) }
            try PlainFile(opening: part).truncate(to: Int64(size))
            try GrowingStage.finish(in: stage.directory)
            let found = GrowingStage.count(in: stage.directory, of: Self.long)
            #expect(found.count == ends.count { $0 <= size }, "cut at byte \(size): \(found.reason)")
            for name in stage.files { try FileManager.default.removeItem(atPath: stage.path(name)) }
        }
    }

    @Test(arguments: [false, true])
    func `a journal that was cut at any byte, or is zeros from there on, has each whole entry`(zeros: Bool) throws {
        _ = try grow(GrowingStage.segments)
        let files = try GrowingStage.files(in: stage.directory)
        let whole = try #require(files[GrowingStage.name + GrowingArchive.journalSuffix])
        let head = whole.count - GrowingStage.segments.count * 68
        for size in 0...whole.count {
            for (name, bytes) in files { try ArchiveStage.write(bytes, stage.path(name)) }
            let file = try PlainFile(opening: journal)
            try file.truncate(to: Int64(size))
            if zeros { try file.truncate(to: Int64(whole.count)) }
            try GrowingStage.finish(in: stage.directory)
            let found = GrowingStage.count(in: stage.directory)
            let least = size < head ? 0 : (size - head) / 68
            // A zero in place of a zero is no damage.
            let most = zeros ? least + 1 : least
            guard let count = found.count, count >= least, count <= most else {
                Issue.record("cut at byte \(size): \(found.reason), and \(least) are whole")
                return
            }
            for name in stage.files { try FileManager.default.removeItem(atPath: stage.path(name)) }
        }
    }
}
