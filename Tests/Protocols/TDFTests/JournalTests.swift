import TestSupport
import Testing

@testable import TDF

struct ArchiveJournalTests {
    private static let json = Array(#"{"begin":1}"#.utf8)

    /// Any checksum that all bytes go into.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    private static func entry(_ index: Int) -> ArchiveJournal.Entry {
        .init(
            segment: TDFSealedSegment(
                entry: TDFSegmentEntry(
                    clearSize: index * 1000, encryptedSize: index * 1000 + 28,
                    gmac: [UInt8](repeating: UInt8(index), count: 16)),
                rootSignature: [UInt8](repeating: 0xA0 | UInt8(index), count: 32)),
            payloadCRC32: UInt32(index) << 28 | 7, duration: UInt32(index) * 2000)
    }

    private static func journal(_ count: Int) throws -> [UInt8] {
        let head = try ArchiveJournal.head(json, checksum: checksum)
        return head + (0..<count).flatMap { ArchiveJournal.encode(entry($0), checksum: checksum) }
    }

    @Test func `head and entries come back, up to where it was cut`() throws {
        let bytes = try Self.journal(5)
        let head = 12 + Self.json.count + 4
        #expect(bytes.count == head + 5 * ArchiveJournal.entrySize)
        for length in 0...bytes.count {
            let found = ArchiveJournal.read(Array(bytes[..<length]), checksum: Self.checksum)
            guard length >= head else {
                #expect(found == nil)
                continue
            }
            #expect(found?.head == Self.json)
            let count = (length - head) / ArchiveJournal.entrySize
            #expect(found?.entries == (0..<count).map(Self.entry))
        }
    }

    @Test func `the bytes are those that the page describes`() throws {
        let bytes = ArchiveJournal.encode(Self.entry(1)) { _ in 0x0102_0304 }
        #expect(Array(bytes[..<8]) == [0, 0, 3, 0xE8, 0, 0, 4, 4])
        #expect(bytes[8..<24].allSatisfy { $0 == 1 } && bytes[24..<56].allSatisfy { $0 == 0xA1 })
        #expect(Array(bytes[56...]) == [0x10, 0, 0, 7, 0, 0, 7, 0xD0, 1, 2, 3, 4])
        let head = try ArchiveJournal.head([0x7B, 0x7D]) { _ in 0x0102_0304 }
        #expect(head == [0x57, 0x42, 0x41, 0x4A, 0, 0, 0, 1, 0, 0, 0, 2, 0x7B, 0x7D, 1, 2, 3, 4])
    }

    @Test func `a byte that changed ends it there`() throws {
        let bytes = try Self.journal(3)
        let head = bytes.count - 3 * ArchiveJournal.entrySize
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x40
            let found = ArchiveJournal.read(damaged, checksum: Self.checksum)
            #expect(found?.entries.count == (index < head ? nil : (index - head) / ArchiveJournal.entrySize))
        }
    }

    /// Somebody who makes the checksums fit.
    @Test func `sizes that no segment has end it`() throws {
        let head = try ArchiveJournal.head(Self.json, checksum: Self.checksum)
        let limit = TDFSegmentEntry.maxClearSize
        for (clear, encrypted) in [
            (0xFFFF_FFFF, 0xFFFF_FFFF), (0xFFFF_FFFF, 27), (limit + 1, limit + 29), (5, 32), (5, 34), (0, 0),
        ] {
            var entry = Self.entry(1)
            entry.segment.entry.clearSize = clear
            entry.segment.entry.encryptedSize = encrypted
            let bytes = head + ArchiveJournal.encode(entry, checksum: Self.checksum)
            #expect(ArchiveJournal.read(bytes, checksum: Self.checksum)?.entries == [])
        }
    }

    @Test func `lengths of a head that are too large end it`() throws {
        var head = try ArchiveJournal.head(Self.json, checksum: Self.checksum)
        for length: UInt32 in [12, 1 << 18, 1 << 18 + 1, .max] {
            for place in 0..<4 { head[8 + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(place))) }
            #expect(ArchiveJournal.read(head, checksum: Self.checksum) == nil)
        }
        #expect(throws: TDFError.self) {
            try ArchiveJournal.head(
                [UInt8](repeating: 0x20, count: ArchiveJournal.maxHeadSize + 1), checksum: Self.checksum)
        }
        let longest = try ArchiveJournal.head(
            [UInt8](repeating: 0x20, count: ArchiveJournal.maxHeadSize), checksum: Self.checksum)
        #expect(ArchiveJournal.read(longest, checksum: Self.checksum)?.head.count == ArchiveJournal.maxHeadSize)
    }

    @Test(arguments: UInt64(0)..<32)
    func `any bytes are read without harm`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<32 {
            var bytes = try Self.journal(3) + generator.bytes(Int.random(in: 0...200, using: &generator))
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            // As if whoever damaged it had made the checksums fit.
            let found = ArchiveJournal.read(bytes) { _ in 0 } ?? ArchiveJournal.read(bytes, checksum: Self.checksum)
            #expect((found?.entries.count ?? 0) <= 6)
        }
    }
}
