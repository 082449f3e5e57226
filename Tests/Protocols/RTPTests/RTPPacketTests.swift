import TestSupport
import Testing
import Wire

@testable import RTP

/// RFC 3550 §5.1.
struct RTPPacketTests {
    /// Two contributing sources, an extension of one word, three bytes of padding.
    private let full = Units.hex("b2e0fffe000102030a0b0c0d1111111122222222bede000111223344aabbcc000003")

    @Test func `all parts of the header are read`() throws {
        let packet = try RTPPacket.parse(full[...])
        var expected = RTPPacket(
            payloadType: 96, isMarked: true, sequence: 0xFFFE, timestamp: 0x0001_0203, source: 0x0A0B_0C0D,
            payload: [0xAA, 0xBB, 0xCC])
        expected.extensionProfile = 0xBEDE
        expected.headerExtension = [0x00, 0x11, 0x22, 0x33, 0x44].dropFirst()
        #expect(packet == expected)
    }

    @Test func `a slice from the middle is read alike`() throws {
        let bytes = [1, 2, 3] + full + [4]
        #expect(try RTPPacket.parse(bytes[3..<(3 + full.count)]) == RTPPacket.parse(full[...]))
    }

    @Test func `a packet without payload is one`() throws {
        #expect(try RTPPacket.parse(Units.hex("806000010000000200000003")[...]).payload.isEmpty)
    }

    @Test(arguments: [
        ("", RTPError.wire(.truncated(offset: 0, needed: 12, available: 0))),
        ("40600001000000020000000300", .unsupportedVersion(1)),
        ("826000010000000200000003aaaaaaaa", .wire(.truncated(offset: 12, needed: 8, available: 4))),
        ("906000010000000200000003aaaa", .wire(.truncated(offset: 12, needed: 4, available: 2))),
        ("906000010000000200000003bede0002aaaaaaaa", .wire(.truncated(offset: 12, needed: 12, available: 8))),
        ("a06000010000000200000003", .invalidPadding(count: 0, available: 0)),
        ("a0600001000000020000000300", .invalidPadding(count: 0, available: 1)),
        ("a0600001000000020000000302", .invalidPadding(count: 2, available: 1)),
    ])
    func `what is not whole is refused`(text: String, error: RTPError) {
        #expect(throws: error) { try RTPPacket.parse(Units.hex(text)[...]) }
        #expect(!"\(error)".isEmpty)
    }

    @Test func `no prefix and no changed byte traps`() {
        for count in 0..<full.count { _ = try? RTPPacket.parse(full[..<count]) }
        for index in full.indices {
            for value in UInt8.min...UInt8.max {
                var bytes = full
                bytes[index] = value
                _ = try? RTPPacket.parse(bytes[...])
            }
        }
    }
}
