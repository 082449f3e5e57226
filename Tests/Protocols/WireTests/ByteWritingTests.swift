import TestSupport
import Testing
import Wire

@Suite struct ByteWritingTests {
    @Test func `bytes stand in the order of the wire`() {
        var bytes: [UInt8] = [0xAA]
        bytes.appendUInt16(0x0102)
        bytes.appendUInt24(0xFF_010203)
        bytes.appendUInt32(0x0102_0304)
        bytes.appendUInt64(0x0102_0304_0506_0708)
        bytes.appendUInt32LittleEndian(0x0102_0304)
        #expect(
            bytes == [
                0xAA, 1, 2, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 4, 3, 2, 1,
            ])
    }

    @Test(arguments: UInt64(1)...64)
    func `what is written is read back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let value = random.next()
        var bytes: [UInt8] = []
        bytes.appendUInt16(UInt16(truncatingIfNeeded: value))
        bytes.appendUInt24(UInt32(truncatingIfNeeded: value))
        bytes.appendUInt32(UInt32(truncatingIfNeeded: value))
        bytes.appendUInt64(value)
        bytes.appendUInt32LittleEndian(UInt32(truncatingIfNeeded: value))
        var reader = ByteReader(bytes)
        #expect(try reader.readUInt16() == UInt16(truncatingIfNeeded: value))
        #expect(try reader.readUInt24() == UInt32(truncatingIfNeeded: value) & 0xFF_FFFF)
        #expect(try reader.readUInt32() == UInt32(truncatingIfNeeded: value))
        #expect(try reader.readUInt64() == value)
        #expect(try reader.readUInt32LittleEndian() == UInt32(truncatingIfNeeded: value))
        try reader.finish()
    }
}
