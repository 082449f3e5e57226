import TestSupport
import Testing
import Wire

@Suite struct ByteReaderTests {
    @Test func `every field is big-endian but the one of RTMP`() throws {
        var reader = ByteReader([
            0x01, 0x01, 0x02, 0x01, 0x02, 0x03, 0x01, 0x02, 0x03, 0x04, 1, 2, 3, 4, 5, 6, 7, 8, 0x04, 0x03, 0x02, 0x01,
        ])
        #expect(try reader.readUInt8() == 0x01)
        #expect(try reader.readUInt16() == 0x0102)
        #expect(try reader.readUInt24() == 0x010203)
        #expect(try reader.readUInt32() == 0x0102_0304)
        #expect(try reader.readUInt64() == 0x0102_0304_0506_0708)
        #expect(try reader.readUInt32LittleEndian() == 0x0102_0304)
        try reader.finish()
    }

    @Test(
        arguments: [
            ([0x00, 0x00, 0x00], 0), ([0x00, 0x00, 0x01], 1), ([0x7F, 0xFF, 0xFF], 8_388_607),
            ([0x80, 0x00, 0x00], -8_388_608), ([0xFF, 0xFF, 0xFF], -1), ([0xFF, 0xFF, 0xD8], -40),
        ] as [([UInt8], Int32)])
    func `a composition time is signed`(bytes: [UInt8], value: Int32) throws {
        var reader = ByteReader(bytes)
        #expect(try reader.readInt24() == value)
    }

    @Test func `a field that is cut off names its offset, its size and what is left`() {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: WireError.truncated(offset: 0, needed: 4, available: 3)) { try reader.readUInt32() }
        #expect(throws: WireError.truncated(offset: 0, needed: 8, available: 3)) { try reader.readUInt64() }
        #expect(throws: Never.self) { try reader.skip(2) }
        #expect(throws: WireError.truncated(offset: 2, needed: 2, available: 1)) { try reader.readUInt16() }
        #expect(throws: WireError.truncated(offset: 2, needed: 3, available: 1)) { try reader.readUInt24() }
        #expect(throws: WireError.truncated(offset: 2, needed: 3, available: 1)) { try reader.readInt24() }
        #expect(throws: WireError.truncated(offset: 2, needed: 4, available: 1)) {
            try reader.readUInt32LittleEndian()
        }
        #expect(throws: WireError.truncated(offset: 2, needed: 2, available: 1)) { try reader.readBytes(2) }
        #expect(throws: WireError.truncated(offset: 2, needed: 2, available: 1)) { try reader.skip(2) }
    }

    @Test func `a read that throws leaves the offset`() throws {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: WireError.self) { try reader.readUInt32() }
        #expect(reader.offset == 0)
        #expect(try reader.readUInt24() == 0x010203)
        #expect(reader.offset == 3)
        #expect(throws: WireError.truncated(offset: 3, needed: 1, available: 0)) { try reader.readUInt8() }
        #expect(reader.offset == 3)
    }

    @Test func `a negative count throws`() {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: WireError.truncated(offset: 0, needed: -1, available: 3)) { try reader.readBytes(-1) }
        #expect(throws: WireError.truncated(offset: 0, needed: .min, available: 3)) { try reader.skip(.min) }
        #expect(throws: WireError.truncated(offset: 0, needed: .max, available: 3)) { try reader.readBytes(.max) }
    }

    @Test func `offsets of a slice count from its own first byte`() throws {
        let bytes: [UInt8] = [9, 9, 9, 1, 2, 3, 9]
        var reader = ByteReader(bytes[3..<6])
        #expect(reader.peek() == 1)
        #expect(try reader.readUInt8() == 1)
        #expect(reader.offset == 1)
        #expect(throws: WireError.truncated(offset: 1, needed: 3, available: 2)) { try reader.readUInt24() }
        #expect(try reader.readBytes(1) == [2])
        #expect(reader.readRemaining() == [3])
        #expect(reader.isAtEnd)
        #expect(reader.peek() == nil)
        #expect(reader.readRemaining().isEmpty)
    }

    @Test func `what follows the end is counted`() throws {
        var reader = ByteReader([1, 2, 3])
        try reader.skip(1)
        #expect(throws: WireError.trailingBytes(offset: 1, count: 2)) { try reader.finish() }
        try reader.skip(2)
        try reader.finish()
    }

    @Test func `an empty reader is at its end`() throws {
        var reader = ByteReader([])
        #expect(reader.isAtEnd)
        #expect(reader.remaining == 0)
        #expect(try reader.readBytes(0).isEmpty)
        try reader.skip(0)
        try reader.finish()
    }

    /// Any order of reads on any bytes: the offset moves by what was read, or not at all.
    @Test(arguments: UInt64(1)...64)
    func `reads move by their size or throw`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = random.bytes(Int.random(in: 0...40, using: &random))
        var reader = ByteReader(bytes)
        for _ in 0..<32 {
            let before = reader.offset
            let left = bytes.count - before
            let (size, error) = readAnything(&reader, &random)
            #expect(error == (size <= left ? nil : .truncated(offset: before, needed: size, available: left)))
            #expect(reader.offset == (error == nil ? before + size : before))
            #expect(reader.remaining == bytes.count - reader.offset)
        }
    }

    private func readAnything(_ reader: inout ByteReader, _ random: inout SeededGenerator) -> (Int, WireError?) {
        let kind = Int.random(in: 0...6, using: &random)
        let size = kind < 5 ? [1, 2, 3, 4, 8][kind] : Int.random(in: 0...12, using: &random)
        do {
            switch kind {
            case 0: _ = try reader.readUInt8()
            case 1: _ = try reader.readUInt16()
            case 2: _ = try reader.readInt24()
            case 3: _ = try reader.readUInt32LittleEndian()
            case 4: _ = try reader.readUInt64()
            case 5: _ = try reader.readBytes(size)
            default: try reader.skip(size)
            }
            return (size, nil)
        } catch {
            return (size, error)
        }
    }

    @Test func `errors say where`() {
        #expect(
            WireError.truncated(offset: 3, needed: 4, available: 1).description
                == "truncated at byte 3: 4 bytes needed, 1 left")
        #expect(WireError.trailingBytes(offset: 5, count: 2).description == "2 bytes too many from byte 5 on")
    }
}
