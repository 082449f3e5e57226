import Compression
import Testing

struct CRC32Tests {
    @Test func `the check value of the catalogues comes out`() {
        #expect(CRC32(Array("123456789".utf8)).value == 0xCBF4_3926)
        #expect(CRC32([]).value == 0)
    }

    @Test func `pieces are as good as the whole`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }
        var checksum = CRC32()
        for begin in stride(from: 0, to: 1000, by: 7) { checksum.update(bytes[begin..<min(begin + 7, 1000)]) }
        checksum.update([])
        #expect(checksum == CRC32(bytes))
    }
}
