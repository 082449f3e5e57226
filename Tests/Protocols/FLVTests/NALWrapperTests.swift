import Media
import TestSupport
import Testing

@testable import FLV

@Suite struct NALWrapperTests {
    /// IV 1, length 16, no ciphertext, a tag.
    private static let item: [UInt8] = [0, 0, 1, 0, 0, 16] + (0xA0..<0xB0)

    @Test(
        arguments: [
            (VideoCodec.h264, true, [0, 0, 0, 23, 0x65]), (.h264, false, [0, 0, 0, 23, 0x41]),
            (.hevc, true, [0, 0, 0, 24, 0x26, 0x01]), (.hevc, false, [0, 0, 0, 24, 0x02, 0x01]),
        ] as [(VideoCodec, Bool, [UInt8])])
    func `the bytes before an item`(codec: VideoCodec, isKeyFrame: Bool, expected: [UInt8]) {
        var bytes: [UInt8] = [9]
        NALWrapper.append(codec: codec, isKeyFrame: isKeyFrame, itemByteCount: Self.item.count, to: &bytes)
        #expect(bytes == [9] + expected)
        #expect(NALWrapper.byteCount(codec) == expected.count)
        let payload = expected + Self.item
        #expect(NALWrapper.form(of: payload[...], codec: codec) == .wrapped(item: payload[expected.count...]))
        // Of the other codec it is nothing.
        #expect(NALWrapper.form(of: payload[...], codec: codec == .h264 ? .hevc : .h264) == .item)
        #expect(NALWrapper.form(of: Self.item[...], codec: codec) == .item)
    }

    @Test func `cut short, too long, or with a length that lies it is not taken for wrapped`() {
        let payload = [0, 0, 0, 23, 0x65] + Self.item
        for count in 0..<payload.count {
            #expect(NALWrapper.form(of: payload[..<count], codec: .h264) == .item)
        }
        #expect(NALWrapper.form(of: (payload + [0])[...], codec: .h264) == .item)
        for index in [0, 1, 2, 3, 4, 8, 9, 10] {
            for bit in 0..<8 {
                var lie = payload
                lie[index] ^= 1 << UInt8(bit)
                #expect(NALWrapper.form(of: lie[...], codec: .h264) == .item, "byte \(index)")
            }
        }
        for header: UInt8 in 0...255 where header != 0x65 && header != 0x41 {
            var other = payload
            other[4] = header
            #expect(NALWrapper.form(of: other[...], codec: .h264) == .item)
        }
    }

    @Test func `a message of one size looks like both, and both are reported`() {
        // 2^17 + 0x6506: the four bytes of the length and 65 read as IV and length of an item that ends where it ends.
        let itemCount = 0x26506 - 5
        var wrapper: [UInt8] = []
        NALWrapper.append(codec: .h264, isKeyFrame: true, itemByteCount: itemCount, to: &wrapper)
        let body = itemCount - 6
        let item =
            [0, 0, 7, UInt8(body >> 16), UInt8(body >> 8 & 255), UInt8(body & 255)] + [UInt8](repeating: 3, count: body)
        let payload = wrapper + item
        #expect(NALWrapper.form(of: payload[...], codec: .h264) == .either(item: payload[5...]))
    }

    @Test(arguments: UInt64(0)..<64)
    func `any bytes are classified`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 0..<64, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if Bool.random(using: &random), count > 8 {
                bytes.replaceSubrange(0..<5, with: [0, 0, 0, UInt8(count - 4), 0x65])
            }
            for codec in [VideoCodec.h264, .hevc] {
                switch NALWrapper.form(of: bytes[...], codec: codec) {
                case .item: break
                case .wrapped(let item), .either(let item): #expect(item.count == count - NALWrapper.byteCount(codec))
                }
            }
        }
    }
}
