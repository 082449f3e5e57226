import Media
import Testing
import Wire

@Suite struct LengthPrefixedUnitsTests {
    @Test(arguments: 1...4)
    func `each size of length is read and widened`(lengthSize: Int) throws {
        let units: [[UInt8]] = [[1], [2, 3], [UInt8](repeating: 7, count: 200)]
        var narrow: [UInt8] = []
        for unit in units { narrow += [UInt8](repeating: 0, count: lengthSize - 1) + [UInt8(unit.count)] + unit }
        // An empty unit says nothing and is passed over.
        narrow += [UInt8](repeating: 0, count: lengthSize)
        var iterator = LengthPrefixedUnits(narrow[...], lengthSize: lengthSize)
        for unit in units { #expect(try iterator.next().map(Array.init) == unit) }
        #expect(try iterator.next() == nil)
        let wide = try LengthPrefixedUnits.widened(narrow[...], from: lengthSize)
        let expected = joined(units, behind: [0, 0, 0])
        #expect(wide == (lengthSize == 4 ? narrow : expected))
        #expect(wide.starts(with: expected))
    }

    @Test(arguments: 1...4)
    func `a strict prefix throws where it ends, or ends between units`(lengthSize: Int) throws {
        let head = [UInt8](repeating: 0, count: lengthSize - 1)
        let bytes = head + [2, 9, 9] + head + [3, 8, 8, 8]
        let boundaries = [0, lengthSize + 2, bytes.count]
        for length in 0..<bytes.count where !boundaries.contains(length) {
            let start = length < lengthSize + 2 ? 0 : lengthSize + 2
            let inLength = length - start < lengthSize
            let expected = WireError.truncated(
                offset: inLength ? start : start + lengthSize,
                needed: inLength ? lengthSize : start == 0 ? 2 : 3,
                available: length - start - (inLength ? 0 : lengthSize))
            #expect(throws: MediaError.wire(expected)) {
                try LengthPrefixedUnits.widened(bytes[..<length], from: lengthSize)
            }
        }
        #expect(try LengthPrefixedUnits.widened(bytes[..<(lengthSize + 2)], from: lengthSize) == [0, 0, 0, 2, 9, 9])
    }

    @Test(
        arguments: [
            (VideoCodec.h264, [0x65], true), (.h264, [0x41], false), (.h264, [0x67], false), (.h264, [0x01], false),
            (.hevc, [0x26, 1], true), (.hevc, [0x28, 1], true), (.hevc, [0x2A, 1], true), (.hevc, [0x02, 1], false),
            (.hevc, [0x40, 1], false),
        ] as [(VideoCodec, [UInt8], Bool)])
    func `the first slice decides`(codec: VideoCodec, unit: [UInt8], isKey: Bool) throws {
        let setUnit: [UInt8] = codec == .h264 ? [0x67, 1] : [0x42, 1]
        let inter: [UInt8] = codec == .h264 ? [0x41, 1] : [0x02, 1]
        let data = AnnexB.lengthPrefixed([setUnit[...], unit[...], inter[...]])
        #expect(try codec.isKeyFrame(data[...]) == isKey)
    }

    @Test func `an access unit without a slice is not a key frame, a broken one throws`() throws {
        #expect(try !VideoCodec.h264.isKeyFrame([]))
        #expect(try !VideoCodec.h264.isKeyFrame([0, 0, 0, 1, 9]))
        #expect(throws: MediaError.wire(.truncated(offset: 4, needed: 2, available: 1))) {
            try VideoCodec.h264.isKeyFrame([0, 0, 0, 2, 9])
        }
    }

    @Test func `kinds of units`() {
        let avc: [(UInt8, NALUnitKind)] = [
            (1, .picture), (2, .picture), (5, .keyPicture), (6, .supplementalInformation), (7, .sequenceParameterSet),
            (8, .pictureParameterSet), (9, .accessUnitDelimiter), (12, .filler), (14, .other), (0, .other),
        ]
        for (type, kind) in avc { #expect(VideoCodec.h264.kind(ofNALUnit: [0x60 | type]) == kind) }
        let hevc: [(UInt8, NALUnitKind)] = [
            (0, .picture), (9, .picture), (16, .keyPicture), (21, .keyPicture), (23, .keyPicture), (24, .other),
            (32, .videoParameterSet), (33, .sequenceParameterSet), (34, .pictureParameterSet),
            (35, .accessUnitDelimiter), (38, .filler), (39, .supplementalInformation), (48, .other),
        ]
        for (type, kind) in hevc { #expect(VideoCodec.hevc.kind(ofNALUnit: [type << 1, 1]) == kind) }
        #expect(VideoCodec.h264.kind(ofNALUnit: []) == .other)
        #expect(VideoCodec.h264.nalUnitType(of: []) == nil)
    }
}
