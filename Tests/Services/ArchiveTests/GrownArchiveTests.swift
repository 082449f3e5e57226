import Compression
import Foundation
import KeyAccess
import NanoTDF
import Platform
import TDF
import TDFCryptography
import Testing

@testable import Archive

/// An archive that grows is read meanwhile as the one that would end there.
struct GrownArchiveTests {
    private let stage: ArchiveStage
    private let part = GrowingStage.name + GrowingArchive.partSuffix
    private let journal = GrowingStage.name + GrowingArchive.journalSuffix
    private let archive: GrowingArchive
    private let key: CollectionKey

    init() throws {
        stage = try ArchiveStage(in: ArchiveStage.memory)
        archive = try GrowingStage.archive(in: stage.directory)
        try archive.append(GrowingStage.segments[0][...], milliseconds: 1000)
        let grown = try #require(try GrownArchive(stage.path(part)))
        key = try ArchiveStage.key.archiveKey(from: grown.reader.manifest.encryptionInformation.keyAccess[0])
    }

    private func appendRest() throws {
        for segment in GrowingStage.segments.dropFirst() { try archive.append(segment[...], milliseconds: 1000) }
    }

    /// How many segments are there, all of them verified, with the key and without.
    private func count(_ grown: GrownArchive?) throws -> Int {
        guard let grown else { return 0 }
        try grown.reader.verifyStructure()
        var plaintext: [UInt8] = []
        try grown.reader.opened(key).read { (bytes) throws(ArchiveError) in plaintext += bytes }
        let count = grown.reader.map.count
        #expect(plaintext == Array(GrowingStage.segments.prefix(count).joined()))
        #expect(grown.begin == GrowingStage.begin && grown.duration == UInt32(count) * 1000)
        #expect(grown.end == grown.begin + Int64(count) * 1000 && grown.reader.isGrowing)
        return count
    }

    private func grown() throws -> GrownArchive? { try RecordingDirectory(stage.directory).grown(7) }

    @Test func `what is written so far is an archive, after each segment`() throws {
        for (index, segment) in GrowingStage.segments.enumerated() {
            if index > 0 { try archive.append(segment[...], milliseconds: 1000) }
            #expect(try count(grown()) == index + 1)
            let reader = try ArchiveReader(stage.path(part))
            #expect(reader.isGrowing && reader.map.count == index + 1 && reader.policy?.stream == "door")
        }
        #expect(stage.files == [journal, part])
    }

    @Test func `it stays what it was while more comes, and when it has its end, and is gone`() throws {
        let early = try #require(try grown())
        try appendRest()
        #expect(try count(early) == 1)
        let late = try #require(try grown())
        guard case .archive(let path, _) = try archive.end(named: GrowingStage.fileName) else {
            Issue.record("there was something in it")
            return
        }
        #expect(try count(early) == 1)
        #expect(try count(late) == 8)
        #expect(throws: ArchiveError.self) { try grown() }
        #expect(try !ArchiveReader(path).isGrowing)
        try FileManager.default.removeItem(atPath: path)
        #expect(try count(late) == 8)
    }

    @Test func `nothing is there before the first segment, and of what has its name`() throws {
        let other = try ArchiveStage(in: ArchiveStage.memory)
        let empty = try GrowingStage.archive(in: other.directory)
        #expect(try GrownArchive(other.path(part)) == nil)
        try empty.append([1, 2, 3], milliseconds: 40)
        let entries = try ArchiveStage.bytes(other.path(journal))
        _ = try empty.end(named: GrowingStage.fileName)
        // The journal was read, and the archive got its name before the part was.
        try Data(entries).write(to: URL(filePath: other.path(journal)))
        let failure = #expect(throws: ArchiveError.self) { try GrownArchive(other.path(part)) }
        #expect(failure?.isMissing == true)
        #expect(try GrownArchive(other.path("film.tdf")) == nil)
        // A file of that name without a journal is a file like any other.
        let film = try other.make([1, 2, 3], name: "film.part")
        #expect(try !ArchiveReader(film).isGrowing)
    }

    @Test func `of a journal that is torn at any byte the whole entries count`() throws {
        try appendRest()
        let whole = try ArchiveStage.bytes(stage.path(journal))
        let entry = (whole.count - (try head())) / 8
        #expect(entry == 68)
        for end in whole.indices {
            try Data(whole[..<end]).write(to: URL(filePath: stage.path(journal)))
            let expected = end < (try head(whole)) ? 0 : (end - (try head(whole))) / entry
            #expect(try count(grown()) == expected, "cut after \(end) bytes")
        }
        for place in stride(from: whole.count - 3 * entry, to: whole.count, by: 5) {
            var bytes = whole
            bytes[place] ^= 0x10
            try Data(bytes).write(to: URL(filePath: stage.path(journal)))
            #expect(try count(grown()) == (place - (try head(whole))) / entry, "byte \(place) is another one")
        }
    }

    @Test func `of a part that is shorter than its journal the whole segments count`() throws {
        try appendRest()
        let whole = try ArchiveStage.bytes(stage.path(part))
        var ends = [Int(TDFContainer.payloadOffset)]
        for segment in GrowingStage.segments { ends.append(ends[ends.count - 1] + segment.count + 28) }
        for end in Set(stride(from: 0, to: whole.count, by: 31)).union(ends.flatMap { [$0 - 1, $0] }) {
            try Data(whole[..<end]).write(to: URL(filePath: stage.path(part)))
            #expect(try count(grown()) == max(0, ends.count { $0 <= end } - 1), "cut after \(end) bytes")
        }
    }

    @Test func `what was changed is refused with its place`() throws {
        try appendRest()
        let whole = try ArchiveStage.bytes(stage.path(part))
        let reader = try #require(try grown()).reader
        for index in 0..<reader.map.count {
            let range = reader.map.encryptedRange(of: index)
            let begin = Int(TDFContainer.payloadOffset + range.lowerBound)
            let end = Int(TDFContainer.payloadOffset + range.upperBound)
            for (place, fault) in [
                (begin + 12, TDFError.segmentTag(index: index)), (end - 1, .segmentHash(index: index)),
            ] {
                var bytes = whole
                bytes[place] ^= 1
                try Data(bytes).write(to: URL(filePath: stage.path(part)))
                let changed = try #require(try grown()).reader
                // Of an empty segment that is its tag already.
                let expected = end - begin == 28 ? .segmentHash(index: index) : fault
                #expect(throws: ArchiveError.format(expected)) { try changed.opened(key).verify() }
                #expect(throws: ArchiveError.self) { try changed.verifyStructure() }
            }
        }
    }

    @Test func `a list of segments or a policy of somebody else's does not verify`() throws {
        try appendRest()
        let whole = try ArchiveStage.bytes(stage.path(journal))
        let head = try head(whole)
        // The last but one left out, its checksums as they have to be.
        var bytes = whole
        bytes.removeSubrange((head + 6 * 68)..<(head + 7 * 68))
        try Data(bytes).write(to: URL(filePath: stage.path(journal)))
        let cut = try #require(try grown()).reader
        #expect(throws: ArchiveError.format(.rootSignature)) { try cut.opened(key) }
        // Another policy in the head.
        let (json, entries) = try #require(ArchiveJournal.read(whole) { CRC32($0).value })
        var changed = try ManifestJSON.decode(GrowingArchive.Head.self, json)
        changed.envelope.policy = Data(#"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#.utf8)
            .base64EncodedString()
        changed.begin = .max
        bytes = try ArchiveJournal.head(try ManifestJSON.encode(value: changed)) { CRC32($0).value }
        for entry in entries { bytes += ArchiveJournal.encode(entry) { CRC32($0).value } }
        try Data(bytes).write(to: URL(filePath: stage.path(journal)))
        let other = try #require(try grown())
        #expect(throws: ArchiveError.format(.policyBinding)) { try other.reader.opened(key) }
        // No time of a recording, and no reason to fall over.
        #expect(other.end == 253_402_300_799_999 + 8000)
    }

    /// Bytes of the journal's head.
    private func head(_ bytes: [UInt8]? = nil) throws -> Int {
        let bytes = try bytes ?? ArchiveStage.bytes(stage.path(journal))
        return 16 + bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
    }
}
