import TestSupport
import Testing

@testable import TDF

struct TDFContainerTests {
    private static let manifest = Array("{}".utf8)

    /// The list of entries of a file of that payload, read from the bytes behind it.
    private func entries(payloadSize: Int64) throws -> (entries: [ZIPEntry], trailer: [UInt8]) {
        let trailer = try TDFContainer.trailer(
            payloadSize: payloadSize, payloadCRC32: 7, manifest: Self.manifest, manifestCRC32: 8)
        let begin = TDFContainer.payloadOffset + payloadSize
        let size = begin + Int64(trailer.count)
        let end = ZIPDirectory.endRange(ofFile: size)
        let directory = try ZIPDirectory(
            end: Array(trailer[max(0, Int(end.lowerBound - begin))...]), fileSize: size)
        let list = trailer[Int(directory.range.lowerBound - begin)..<Int(directory.range.upperBound - begin)]
        return (try directory.entries(Array(list)), trailer)
    }

    @Test(
        arguments: [
            0, 1, 0xFFFF_FFFE - 59 - 200, 0xFFFF_FFFE - 59, 0xFFFF_FFFE, 0xFFFF_FFFF, 0x1_0000_0000, 14 << 30,
            200 << 30,
        ] as [Int64])
    func `sizes on both sides of 4 GiB come back`(size: Int64) throws {
        let (entries, trailer) = try entries(payloadSize: size)
        #expect(entries.map(\.name) == ["0.payload", "0.manifest.json", "manifest.json"])
        #expect(entries.map(\.size) == [size, 2, 2])
        #expect(entries.map(\.crc32) == [7, 8, 8])
        #expect(entries[0].offset == 0)
        #expect(entries[1].offset == TDFContainer.payloadOffset + size)
        let needs64 = size + 59 + 200 > 0xFFFF_FFFF
        #expect(trailer.suffix(42).prefix(4).elementsEqual([0x50, 0x4B, 6, 7]) == needs64)
        // The header before the data reads, and is as long as it was before the size was known.
        let header = TDFContainer.header(payloadSize: size, crc32: 7)
        #expect(header.count == TDFContainer.header(payloadSize: 0, crc32: 0).count)
        let directory = try ZIPDirectory(
            end: trailer.suffix(98).map(\.self), fileSize: 59 + size + Int64(trailer.count))
        let data = try directory.dataRange(of: entries[0], header: header, end: entries[1].offset)
        #expect(data == 59..<(59 + size))
    }

    @Test(arguments: 0..<98)
    func `a file that is shorter than its end is no archive`(length: Int) throws {
        #expect(throws: TDFError.self) {
            try ZIPDirectory(end: [UInt8](repeating: 0x50, count: length), fileSize: Int64(length))
        }
    }

    @Test(arguments: UInt64(0)..<64)
    func `bits of the list of entries and of its end flip without harm`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let size: Int64 = seed.isMultiple(of: 2) ? 100 : 5 << 30
        let begin = TDFContainer.payloadOffset + size
        for _ in 0..<64 {
            var trailer = try entries(payloadSize: size).trailer
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let index = Int.random(in: 0..<trailer.count, using: &generator)
                trailer[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let fileSize = begin + Int64(trailer.count)
            guard let directory = try? ZIPDirectory(end: Array(trailer.suffix(98)), fileSize: fileSize),
                directory.range.lowerBound >= begin
            else { continue }
            let list = trailer[Int(directory.range.lowerBound - begin)...].prefix(
                Int(directory.range.upperBound - directory.range.lowerBound))
            guard let entries = try? directory.entries(Array(list)) else { continue }
            for entry in entries {
                #expect(entry.offset >= 0 && entry.size >= 0)
                #expect(entry.offset + entry.size <= directory.range.lowerBound)
                let range = directory.headerRange(of: entry)
                #expect(range.lowerBound >= 0 && range.upperBound <= directory.range.lowerBound)
            }
        }
    }

    @Test func `a manifest that no reader takes is not written`() {
        let bytes = [UInt8](repeating: 0x20, count: TDFManifest.maxBytes + 1)
        #expect(throws: TDFError.self) {
            try TDFContainer.trailer(payloadSize: 0, payloadCRC32: 0, manifest: bytes, manifestCRC32: 0)
        }
    }
}
