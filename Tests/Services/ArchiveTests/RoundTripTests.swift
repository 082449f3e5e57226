import Foundation
import KeyAccess
import NanoTDF
import Platform
import TDF
import Testing

@testable import Archive

struct ArchiveRoundTripTests {
    @Test(arguments: [0, 1, 999, 1000, 1001, 2000, 12_345])
    func `what went in comes out, and nothing else is left`(count: Int) throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let path = try stage.make(plaintext)
        #expect(try ArchiveStage.plaintext(path) == plaintext)
        #expect(stage.files == ["film.tdf"])
        let archive = try ArchiveReader(path)
        #expect(archive.map.count == max(1, (count + 999) / 1000))
        #expect(archive.policy?.stream == "door")
        #expect(archive.manifest.meta?.protectedAt == "2027-01-15T08:00:00Z")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `many small segments, each ended by hand`() throws {
        let stage = try ArchiveStage()
        let writer = try stage.writer(segmentSize: 1 << 20)
        var expected: [UInt8] = []
        for index in 0..<3000 {
            let frame = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: index % 7)
            expected += frame
            try writer.write(frame[...])
            try writer.endSegment()
        }
        try writer.finish(at: 0)
        let archive = try ArchiveReader(stage.path())
        // What is empty is no segment of its own.
        #expect(archive.map.count == (0..<3000).count { $0 % 7 > 0 })
        #expect(try ArchiveStage.plaintext(stage.path()) == expected)
    }

    @Test func `a part is opened without the segments around it`() throws {
        let stage = try ArchiveStage()
        let plaintext = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 / 40) }
        let path = try stage.make(plaintext)
        // Whatever is in the others, they are not looked at.
        let damaged = try stage.repacked(path) { payload, _ in
            for index in [0, 1, 2, 5, 6, 7, 8, 9] { payload[index * 1028 + 20] ^= 1 }
        }
        let archive = try ArchiveReader(damaged)
        #expect(try ArchiveStage.part(3000..<5000, of: archive) == Array(plaintext[3000..<5000]))
        #expect(try ArchiveStage.part(3999..<4001, of: archive) == Array(plaintext[3999..<4001]))
        #expect(try ArchiveStage.part(3100..<3100, of: archive) == [])
        #expect(try ArchiveStage.part(20_000..<30_000, of: archive) == [])
        #expect(throws: ArchiveError.format(.segmentTag(index: 2))) {
            try ArchiveStage.part(2999..<3001, of: archive)
        }
    }

    @Test func `a file that is there stays, unless it is to be replaced`() throws {
        let stage = try ArchiveStage()
        try ArchiveStage.write([1, 2, 3], stage.path())
        let writer = try stage.writer(segmentSize: 100)
        try writer.write([4, 5])
        do throws(ArchiveError) {
            try writer.finish(at: 0)
            Issue.record("it was replaced")
        } catch {
            guard case .output(let failure) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(failure.isThere)
        }
        #expect(try ArchiveStage.bytes(stage.path()) == [1, 2, 3])
        let second = try stage.writer(segmentSize: 100)
        try second.write([4, 5])
        try second.finish(at: 0, replaces: true)
        #expect(try ArchiveStage.plaintext(stage.path()) == [4, 5])
    }

    @Test func `a writer that is given up leaves nothing`() throws {
        let stage = try ArchiveStage()
        do {
            let writer = try stage.writer(segmentSize: 10)
            try writer.write([UInt8](repeating: 1, count: 100)[...])
            #expect(stage.files.count == 1)
            #expect(stage.files != ["film.tdf"])
        }
        #expect(stage.files == [])
    }

    @Test func `an export is whole, or is not there`() throws {
        let stage = try ArchiveStage()
        let plaintext = [UInt8](repeating: 9, count: 5000)
        let path = try stage.make(plaintext)
        try ArchiveStage.opened(try ArchiveReader(path)).export(to: stage.path("film.mp4"))
        #expect(try ArchiveStage.bytes(stage.path("film.mp4")) == plaintext)
        let damaged = try stage.repacked(path) { payload, _ in payload[4 * 1028 + 30] ^= 1 }
        #expect(throws: ArchiveError.format(.segmentTag(index: 4))) {
            try ArchiveStage.opened(try ArchiveReader(damaged)).export(to: stage.path("other.mp4"))
        }
        #expect(stage.files == ["changed.tdf", "film.mp4", "film.tdf"])
        #expect(throws: ArchiveError.cancelled) {
            try ArchiveStage.opened(try ArchiveReader(path)).export(to: stage.path("other.mp4")) {
                (done) throws(ArchiveError) in if done > 2000 { throw .cancelled }
            }
        }
        #expect(stage.files == ["changed.tdf", "film.mp4", "film.tdf"])
    }

    @Test func `what is no file is not read as one`() throws {
        let stage = try ArchiveStage()
        #expect(throws: ArchiveError.input(.notAFile(path: stage.directory))) { try ArchiveReader(stage.directory) }
        #expect(throws: ArchiveError.self) { try ArchiveReader(stage.path("missing")) }
        #expect(throws: ArchiveError.self) {
            try ArchiveWriter(
                stage.path("no/such/directory"), recipient: try ArchiveStage.recipient(), policy: PlaintextPolicy())
        }
    }
}
