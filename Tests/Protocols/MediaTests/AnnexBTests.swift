import Media
import TestSupport
import Testing
import Wire

@Suite struct AnnexBTests {
    @Test(
        arguments: [
            ([], []),
            ([0, 0, 1], []),
            ([1, 2, 3], []),
            ([0, 0, 1, 9], [[9]]),
            ([0, 0, 0, 1, 9, 8], [[9, 8]]),
            ([7, 7, 0, 0, 1, 9, 0, 0, 1, 8], [[9], [8]]),
            ([0, 0, 1, 9, 0, 0, 0, 0, 1, 8, 0, 0, 0], [[9], [8]]),
            ([0, 0, 1, 0, 0, 1, 8], [[8]]),
            ([0, 0, 1, 9, 0, 0, 3, 1], [[9, 0, 0, 3, 1]]),
            ([0, 0, 1, 9, 0, 0, 2, 0, 0], [[9, 0, 0, 2]]),
            ([0, 0, 1, 0, 0, 0], []),
            ([0, 0, 0, 0, 0, 1, 5, 0, 0, 1], [[5]]),
        ] as [([UInt8], [[UInt8]])])
    func `units stand between start codes`(bytes: [UInt8], units: [[UInt8]]) {
        #expect(AnnexB.units(in: bytes[...]).map(Array.init) == units)
        let embedded = [0, 0, 1, 0xEE] + bytes + [0, 0, 1, 0xEE]
        #expect(AnnexB.units(in: embedded[4..<(4 + bytes.count)]).map(Array.init) == units)
        #expect(
            bytes.withUnsafeBytes { AnnexB.lengthPrefixed(copying: $0.bytes) { _ in true } }
                == AnnexB.lengthPrefixed(bytes[...]))
        let kept = bytes.withUnsafeBytes { AnnexB.lengthPrefixed(copying: $0.bytes) { $0 != 9 } }
        #expect(kept == AnnexB.lengthPrefixed(bytes[...]) { $0.first != 9 })
    }

    /// Against the plainest reading of annex B, with zeros and ones common enough to meet every case at every
    /// alignment.
    @Test(arguments: UInt64(1)...64)
    func `the fast search finds what the plain one finds`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let bytes = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                [0, 0, 0, 0, 0, 1, 1, 2, 3, 0xFF].randomElement(using: &random)! as UInt8
            }
            let from = Int.random(in: 0...min(9, bytes.count), using: &random)
            let units = plainUnits(Array(bytes[from...]))
            #expect(AnnexB.units(in: bytes[from...]).map(Array.init) == units)
            // And there and back.
            let prefixed = AnnexB.lengthPrefixed(bytes[from...])
            #expect(prefixed == joined(units, behind: [0, 0, 0]))
            let again = try AnnexB.bytes(fromLengthPrefixed: prefixed[...])
            var expected: [UInt8] = []
            for unit in units { expected += [0, 0, 0, 1] + unit }
            #expect(again == expected)
        }
    }

    private func plainUnits(_ bytes: [UInt8]) -> [[UInt8]] {
        var units: [[UInt8]] = []
        var current: [UInt8]?
        var index = 0
        func finished(_ unit: [UInt8]?) -> [[UInt8]] {
            guard var unit else { return [] }
            while unit.last == 0 { unit.removeLast() }
            return unit.isEmpty ? [] : [unit]
        }
        while index < bytes.count {
            if bytes[index...].starts(with: [0, 0, 1]) {
                units += finished(current)
                current = []
                index += 3
            } else {
                current?.append(bytes[index])
                index += 1
            }
        }
        return units + finished(current)
    }

    @Test func `units can be left out`() {
        let bytes: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0, 0, 0, 0, 1, 0x65, 1, 2, 0, 0, 1, 0x0C, 0xFF]
        let kept = AnnexB.lengthPrefixed(bytes[...]) { unit in
            let kind = VideoCodec.h264.kind(ofNALUnit: unit)
            return kind != .accessUnitDelimiter && kind != .filler
        }
        #expect(kept == [0, 0, 0, 3, 0x65, 1, 2])
    }

    @Test func `recordings of ffmpeg are taken apart`() throws {
        let avc = try fixture("ffmpeg-5.1-x264.h264")
        let kinds = AnnexB.units(in: avc[...]).map { VideoCodec.h264.kind(ofNALUnit: $0) }
        #expect(kinds.filter(\.isPicture).count == 50)
        #expect(kinds.filter { $0 == .keyPicture }.count == 2)
        #expect(kinds.filter { $0 == .sequenceParameterSet }.count == 2)
        #expect(kinds.filter { $0 == .supplementalInformation }.count == 1)

        let hevc = try fixture("ffmpeg-5.1-x265.hevc")
        let hevcKinds = AnnexB.units(in: hevc[...]).map { VideoCodec.hevc.kind(ofNALUnit: $0) }
        #expect(hevcKinds.filter(\.isPicture).count == 15)
        #expect(hevcKinds.filter { $0 == .keyPicture }.count == 2)
        #expect(hevcKinds.filter { $0 == .videoParameterSet }.count == 2)
        // These streams use four-byte start codes or three-byte ones, but nothing else lies between the units.
        for (bytes, units) in [(avc, AnnexB.units(in: avc[...])), (hevc, AnnexB.units(in: hevc[...]))] {
            #expect(units.reduce(0) { $0 + $1.count } + units.count * 3 <= bytes.count)
            #expect(units.reduce(0) { $0 + $1.count } + units.count * 4 >= bytes.count)
        }
    }

    @Test func `a length that promises too much is refused`() {
        #expect(throws: MediaError.wire(.truncated(offset: 4, needed: 2, available: 1))) {
            try AnnexB.bytes(fromLengthPrefixed: [0, 0, 0, 2, 9])
        }
        #expect(throws: MediaError.wire(.truncated(offset: 5, needed: 4, available: 3))) {
            try AnnexB.bytes(fromLengthPrefixed: [0, 0, 0, 1, 9, 0, 0, 1])
        }
        #expect(throws: MediaError.wire(.truncated(offset: 4, needed: 0xFFFF_FFFF, available: 0))) {
            try AnnexB.bytes(fromLengthPrefixed: [0xFF, 0xFF, 0xFF, 0xFF])
        }
    }
}
