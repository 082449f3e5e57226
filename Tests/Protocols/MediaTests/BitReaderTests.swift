import TestSupport
import Testing

@testable import Media

@Suite struct BitReaderTests {
    /// ITU-T H.264 table 9-2.
    @Test(
        arguments: [
            ("1", 0), ("010", 1), ("011", 2), ("00100", 3), ("00101", 4), ("00110", 5), ("00111", 6), ("0001000", 7),
            ("0001001", 8), ("0001010", 9),
        ] as [(String, UInt32)])
    func `codes of the table`(code: String, value: UInt32) throws {
        var reader = BitReader(bits(code))
        #expect(try reader.unsignedExpGolomb() == value)
        #expect(reader.offset == code.count)
    }

    /// ITU-T H.264 table 9-3.
    @Test(
        arguments: [("1", 0), ("010", 1), ("011", -1), ("00100", 2), ("00101", -2), ("00110", 3)] as [(String, Int32)])
    func `signed codes alternate`(code: String, value: Int32) throws {
        var reader = BitReader(bits(code))
        #expect(try reader.signedExpGolomb() == value)
    }

    @Test func `the longest code is read, a longer one is refused`() throws {
        var longest = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE])
        #expect(try longest.unsignedExpGolomb() == UInt32.max - 1)
        #expect(longest.offset == 63)
        var tooLong = BitReader([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: MediaError.invalid(.expGolombCode, value: 0, offset: 32)) { try tooLong.unsignedExpGolomb() }
        #expect(tooLong.offset == 0)
        var signed = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFC])
        #expect(try signed.signedExpGolomb() == Int32.max)
        var negative = BitReader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE])
        #expect(try negative.signedExpGolomb() == -Int32.max)
    }

    @Test func `a field that is cut off leaves the offset`() {
        var reader = BitReader([0b0001_0000])
        #expect(throws: MediaError.truncatedBits(offset: 0, needed: 9, available: 8)) { try reader.bits(9) }
        #expect(throws: Never.self) { try reader.skip(2) }
        #expect(throws: MediaError.truncatedBits(offset: 2, needed: 7, available: 6)) { try reader.skip(7) }
        #expect(throws: MediaError.truncatedBits(offset: 2, needed: -1, available: 6)) { try reader.skip(-1) }
        #expect(throws: Never.self) { try reader.skip(2) }
        var code = BitReader([0b0001_0000].map { $0 >> 2 })
        #expect(throws: MediaError.truncatedBits(offset: 0, needed: 11, available: 8)) { try code.unsignedExpGolomb() }
        #expect(code.offset == 0)
        var zeros = BitReader([0])
        #expect(throws: MediaError.truncatedBits(offset: 0, needed: 17, available: 8)) {
            try zeros.unsignedExpGolomb()
        }
        #expect(zeros.offset == 0)
    }

    @Test(arguments: UInt64(1)...64)
    func `what is written is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var writer = BitWriter()
        var expected: [(kind: Int, count: Int, value: UInt32)] = []
        for _ in 0..<40 {
            let count = Int.random(in: 0...32, using: &random)
            let value = UInt32(truncatingIfNeeded: random.next() & ((1 << UInt64(count)) - 1))
            let kind = Int.random(in: 0...2, using: &random)
            switch kind {
            case 0: writer.bits(value, count)
            case 1: writer.unsignedExpGolomb(min(value, UInt32.max - 1))
            default: writer.signedExpGolomb(max(Int32(bitPattern: value), -Int32.max))
            }
            expected.append((kind, count, value))
        }
        var reader = BitReader(nalUnit: writer.nalUnit()[...])
        for (kind, count, value) in expected {
            switch kind {
            case 0: #expect(try reader.bits(count) == value)
            case 1: #expect(try reader.unsignedExpGolomb() == min(value, UInt32.max - 1))
            default: #expect(try reader.signedExpGolomb() == max(Int32(bitPattern: value), -Int32.max))
            }
        }
        #expect(reader.offset == writer.count)
    }

    @Test func `emulation prevention is taken out`() {
        #expect(BitReader.rbsp(of: [0, 0, 3, 1]) == [0, 0, 1])
        #expect(BitReader.rbsp(of: [0, 0, 3]) == [0, 0])
        #expect(BitReader.rbsp(of: [0, 0, 3, 0, 0, 3, 0, 0, 3, 3]) == [0, 0, 0, 0, 0, 0, 3])
        #expect(BitReader.rbsp(of: [0, 3, 0, 3]) == [0, 3, 0, 3])
        #expect(BitReader.rbsp(of: [0, 0, 0, 3, 5]) == [0, 0, 0, 5])
    }

    private func bits(_ text: String) -> [UInt8] {
        var writer = BitWriter()
        for character in text { writer.flag(character == "1") }
        return writer.bytes
    }
}
