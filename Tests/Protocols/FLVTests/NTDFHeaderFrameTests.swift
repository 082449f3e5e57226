import FLV
import Media
import Testing
import Wire

@Suite struct NTDFHeaderFrameTests {
    private let header: [UInt8] = [0x4C, 0x31, 0x4C, 0x01, 0x02]

    @Test func `the frame of the profile, byte for byte`() throws {
        let frame = try NTDFHeaderFrame.encode(header)
        #expect(frame == [0x17, 2, 0, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 5, 0x4C, 0x31, 0x4C, 1, 2])
        #expect(NTDFHeaderFrame.matches(frame[...]))
        #expect(try Array(NTDFHeaderFrame.parse(frame[...])) == header)
        #expect(try Array(NTDFHeaderFrame.parse(([0, 0] + frame)[2...])) == header)
        let parsed = try VideoTagHeader.parse(frame[...])
        #expect(parsed.header == VideoTagHeader(codec: .h264, isKeyFrame: true, kind: .ntdfHeader))
        #expect(Array(parsed.payload) == Array(frame[5...]))
        #expect(parsed.header.encoded() == Array(frame[..<5]))
    }

    /// Readers match on the codec and the magic, whatever the other fields.
    @Test(arguments: [[0x17, 1, 0, 0, 0], [0x27, 2, 9, 9, 9], [0x17, 0, 0, 0, 1], [0x37, 7, 0, 0, 0]] as [[UInt8]])
    func `any frame and packet type`(prefix: [UInt8]) throws {
        let frame = prefix + (try NTDFHeaderFrame.encode(header)).dropFirst(5)
        #expect(NTDFHeaderFrame.matches(frame[...]))
        #expect(try Array(NTDFHeaderFrame.parse(frame[...])) == header)
        #expect(try VideoTagHeader.parse(frame[...]).header.kind == .ntdfHeader)
    }

    @Test(
        arguments: [
            [], [0x17, 2, 0, 0, 0], [0x17, 2, 0, 0, 0, 0x4E, 0x54, 0x44],
            [0x1C, 2, 0, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 1, 1],
            [0x97, 2, 0, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 1, 1], [0x17, 2, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 1, 1],
        ] as [[UInt8]])
    func `other frames are not taken for one`(frame: [UInt8]) {
        #expect(!NTDFHeaderFrame.matches(frame[...]))
        #expect(throws: FLVError.notAHeaderFrame) { try NTDFHeaderFrame.parse(frame[...]) }
    }

    @Test func `the length is exact`() throws {
        let frame = try NTDFHeaderFrame.encode(header)
        for length in 9..<11 {
            #expect(throws: FLVError.wire(.truncated(offset: 9, needed: 2, available: length - 9))) {
                try NTDFHeaderFrame.parse(frame[..<length])
            }
        }
        for length in 11..<16 {
            #expect(throws: FLVError.wire(.truncated(offset: 11, needed: 5, available: length - 11))) {
                try NTDFHeaderFrame.parse(frame[..<length])
            }
        }
        #expect(throws: FLVError.wire(.trailingBytes(offset: 16, count: 2))) {
            try NTDFHeaderFrame.parse((frame + [0, 0])[...])
        }
        #expect(throws: FLVError.headerFrameLength(0)) {
            try NTDFHeaderFrame.parse([0x17, 2, 0, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 0])
        }
    }

    @Test func `the longest header is 65 535 bytes`() throws {
        let longest = [UInt8](repeating: 7, count: 65535)
        #expect(try Array(NTDFHeaderFrame.parse(NTDFHeaderFrame.encode(longest)[...])) == longest)
        #expect(throws: FLVError.headerFrameLength(65536)) { try NTDFHeaderFrame.encode(longest + [7]) }
        #expect(throws: FLVError.headerFrameLength(0)) { try NTDFHeaderFrame.encode([]) }
    }
}
