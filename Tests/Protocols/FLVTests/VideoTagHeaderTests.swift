import FLV
import Media
import TestSupport
import Testing
import Wire

@Suite struct VideoTagHeaderTests {
    typealias Header = VideoTagHeader

    /// Bytes as they stand before a payload, and what they mean.
    @Test(
        arguments: [
            ("17 00 000000", Header(codec: .h264, isKeyFrame: true, kind: .sequenceHeader)),
            ("17 01 000050", Header(codec: .h264, isKeyFrame: true, kind: .codedFrame(compositionTime: 80))),
            ("27 01 0000a0", Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: 160))),
            ("27 01 ffffd8", Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: -40))),
            ("27 01 800000", Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: -8_388_608))),
            ("27 01 7fffff", Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: 8_388_607))),
            ("17 02 000000", Header(codec: .h264, isKeyFrame: true, kind: .endOfSequence)),
            ("17 09 000000", Header(codec: .h264, isKeyFrame: true, kind: .other(9))),
            ("57 00", Header(codec: .h264, isKeyFrame: false, kind: .command(0))),
            ("1c 00 000000", Header(codec: .hevc, isKeyFrame: true, kind: .sequenceHeader, format: .legacy)),
            (
                "2c 01 000028",
                Header(codec: .hevc, isKeyFrame: false, kind: .codedFrame(compositionTime: 40), format: .legacy)
            ),
            ("90 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .sequenceHeader)),
            ("91 68766331 000028", Header(codec: .hevc, isKeyFrame: true, kind: .codedFrame(compositionTime: 40))),
            ("a1 68766331 ffffff", Header(codec: .hevc, isKeyFrame: false, kind: .codedFrame(compositionTime: -1))),
            ("92 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .endOfSequence)),
            ("94 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .metadata)),
            ("95 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .other(5))),
            (
                "91 61766331 000000",
                Header(codec: .h264, isKeyFrame: true, kind: .codedFrame(compositionTime: 0), format: .enhanced)
            ),
            ("d0 07", Header(codec: .hevc, isKeyFrame: false, kind: .command(7), format: .enhanced)),
        ] as [(String, VideoTagHeader)])
    func `prefixes are read, and written back byte for byte`(hexadecimal: String, header: VideoTagHeader) throws {
        let bytes = try Hexadecimal.decode(hexadecimal.filter { $0 != " " })
        let payload: [UInt8] = [1, 2, 3]
        let parsed = try VideoTagHeader.parse((bytes + payload)[...])
        #expect(parsed.header == header)
        #expect(Array(parsed.payload) == payload)
        #expect(header.encoded() == bytes)
        var embedded: [UInt8] = [9, 9]
        header.append(to: &embedded)
        #expect(try VideoTagHeader.parse(embedded[2...]).header == header)
        for length in 0..<bytes.count {
            let error = #expect(throws: FLVError.self) { try VideoTagHeader.parse(bytes[..<length]) }
            guard case .wire(.truncated(let offset, let needed, let available)) = error else {
                Issue.record("\(length) bytes: \(String(describing: error))")
                continue
            }
            #expect(offset + available == length)
            #expect(needed > available)
        }
    }

    /// Forms that are read and never written.
    @Test(
        arguments: [
            ("93 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .codedFrame(compositionTime: 0))),
            ("a3 68766331", Header(codec: .hevc, isKeyFrame: false, kind: .codedFrame(compositionTime: 0))),
            ("37 01 000000", Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: 0))),
            ("47 01 000000", Header(codec: .h264, isKeyFrame: true, kind: .codedFrame(compositionTime: 0))),
            ("d1 07", Header(codec: .hevc, isKeyFrame: false, kind: .command(7), format: .enhanced)),
            ("96 00", Header(codec: .hevc, isKeyFrame: true, kind: .other(6), format: .enhanced)),
            ("97 02 0a0b0c 03 68766331", Header(codec: .hevc, isKeyFrame: true, kind: .codedFrame(compositionTime: 0))),
            (
                "97 00 aa 07 01 bbbb 01 68766331 000001",
                Header(codec: .hevc, isKeyFrame: true, kind: .codedFrame(compositionTime: 1))
            ),
            (
                "97 ff 0000 aa 03 68766331",
                Header(codec: .hevc, isKeyFrame: true, kind: .codedFrame(compositionTime: 0))
            ),
        ] as [(String, VideoTagHeader)])
    func `other forms of peers`(hexadecimal: String, header: VideoTagHeader) throws {
        let bytes = try Hexadecimal.decode(hexadecimal.filter { $0 != " " })
        #expect(try VideoTagHeader.parse(bytes[...]).header == header)
    }

    @Test(arguments: [
        ("12", FLVError.unsupportedVideoCodec(2)), ("1d00000000", .unsupportedVideoCodec(13)),
        ("91 61763031 00", .unsupportedFourCC(0x6176_3031)), ("90 76703039", .unsupportedFourCC(0x7670_3039)),
        ("", .wire(.truncated(offset: 0, needed: 1, available: 0))),
        ("97 ff ffff 00", .wire(.truncated(offset: 4, needed: 65536, available: 1))),
    ])
    func `codecs without a name here are refused`(hexadecimal: String, error: FLVError) throws {
        let bytes = try Hexadecimal.decode(hexadecimal.filter { $0 != " " })
        #expect(throws: error) { try VideoTagHeader.parse(bytes[...]) }
    }

    @Test func `a composition time beyond 24 bits is cut`() throws {
        for (time, cut) in [(Int32.max, Int32(0x7F_FFFF)), (.min, -0x80_0000)] {
            let bytes = Header(codec: .h264, isKeyFrame: false, kind: .codedFrame(compositionTime: time)).encoded()
            #expect(try Header.parse(bytes[...]).header.kind == .codedFrame(compositionTime: cut))
        }
    }

    @Test(arguments: UInt64(1)...64)
    func `random bytes throw or return`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let bytes = random.bytes(Int.random(in: 0...24, using: &random))
            if let (header, payload) = try? VideoTagHeader.parse(bytes[...]) {
                #expect(payload.endIndex == bytes.endIndex)
                _ = header.encoded()
            }
            if let (header, payload) = try? AudioTagHeader.parse(bytes[...]) {
                #expect(payload.endIndex == bytes.endIndex)
                _ = header.encoded()
            }
        }
    }
}
