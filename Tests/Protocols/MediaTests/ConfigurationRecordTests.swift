import Media
import TestSupport
import Testing
import Wire

@Suite struct ConfigurationRecordTests {
    /// The sequence header of ffmpeg 5.1.9 with libx264, 128×96 at 25.
    static let ffmpegAVC =
        "01640009ffe1001867640009acd9420db011000003000100000300320f12259601000568ebecb22cfdf8f800"

    @Test func `avcC of ffmpeg is read, and built from its sets byte for byte`() throws {
        let bytes = try Hexadecimal.decode(Self.ffmpegAVC)
        let record = try AVCConfigurationRecord.parse(bytes[...])
        #expect(record.profile == 100)
        #expect(record.constraints == 0)
        #expect(record.level == 9)
        #expect(record.nalUnitLengthSize == 4)
        #expect(record.sequenceParameterSets == [bytes.prefix(32).suffix(24)].map(Array.init))
        #expect(record.pictureParameterSets == [try Hexadecimal.decode("68ebecb22c")])
        #expect(try record.encoded() == bytes)
        let built = try AVCConfigurationRecord(
            sequenceParameterSets: record.sequenceParameterSets, pictureParameterSets: record.pictureParameterSets)
        #expect(try built.encoded() == bytes)
    }

    @Test func `avcC of a baseline stream has no format at its end`() throws {
        let sequence = try Hexadecimal.decode(avcSequences[0].unit)
        let picture = try Hexadecimal.decode("68cb83cb20")
        let record = try AVCConfigurationRecord(sequenceParameterSets: [sequence], pictureParameterSets: [picture])
        let bytes = try record.encoded()
        #expect(Array(bytes.prefix(8)) == [1, 66, 0xC0, 10, 0xFF, 0xE1, 0, 22])
        #expect(bytes.count == 8 + 22 + 3 + 5)
        #expect(try AVCConfigurationRecord.parse(bytes[...]) == record)
    }

    @Test func `avcC of every profile names its format`() throws {
        for set in avcSequences where set.profile >= 100 {
            let record = try AVCConfigurationRecord(
                sequenceParameterSets: [try Hexadecimal.decode(set.unit)], pictureParameterSets: [[0x68, 0xCE]])
            let depth = UInt8(set.bitDepth - 8)
            #expect(
                Array(try record.encoded().suffix(4)) == [
                    0xFC | UInt8(set.chromaFormat), 0xF8 | depth, 0xF8 | depth, 0,
                ])
        }
    }

    @Test func `hvcC of ffmpeg is read and written byte for byte`() throws {
        let bytes = try fixture("ffmpeg-5.1-x265.hvcC")
        let record = try HEVCConfigurationRecord.parse(bytes[...])
        #expect(record.profile.profile == 1)
        #expect(record.profile.level == 30)
        #expect(record.profile.constraints == 0x9000_0000_0000)
        #expect(record.temporalLayers == 1)
        #expect(record.temporalIDIsNested)
        #expect(record.nalUnitLengthSize == 4)
        #expect(record.arrays.map(\.nalUnitType) == [32, 33, 34, 39])
        #expect(try record.encoded() == bytes)
        let built = try HEVCConfigurationRecord(
            videoParameterSets: record.videoParameterSets, sequenceParameterSets: record.sequenceParameterSets,
            pictureParameterSets: record.pictureParameterSets)
        var withoutInformation = record
        withoutInformation.arrays.removeLast()
        #expect(built == withoutInformation)
        #expect(try built.encoded().dropFirst(23) == bytes.dropFirst(23).prefix(built.encoded().count - 23))
    }

    @Test func `a strict prefix of avcC is truncated, up to the part that may be missing`() throws {
        let bytes = try Hexadecimal.decode(Self.ffmpegAVC)
        let fields: [(begin: Int, end: Int)] =
            (0..<6).map { ($0, $0 + 1) } + [(6, 8), (8, 32), (32, 33), (33, 35), (35, 40)]
        for (begin, end) in fields {
            for length in begin..<end {
                let error = WireError.truncated(offset: begin, needed: end - begin, available: length - begin)
                #expect(throws: MediaError.wire(error)) { try AVCConfigurationRecord.parse(bytes[..<length]) }
            }
        }
        for length in 40...bytes.count {
            #expect(try AVCConfigurationRecord.parse(bytes[..<length]) == AVCConfigurationRecord.parse(bytes[...]))
        }
    }

    @Test func `a strict prefix of hvcC is truncated`() throws {
        let bytes = try fixture("ffmpeg-5.1-x265.hvcC")
        for length in 0..<bytes.count {
            let error = #expect(throws: MediaError.self) { try HEVCConfigurationRecord.parse(bytes[..<length]) }
            guard case .wire(.truncated(let offset, let needed, let available)) = error else {
                Issue.record("\(length) bytes: \(String(describing: error))")
                continue
            }
            #expect(offset + available == length)
            #expect(needed > available)
        }
    }

    @Test(arguments: UInt64(1)...64)
    func `flipped bits throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for codec in VideoCodec.allCases {
            var bytes =
                codec == .h264 ? try Hexadecimal.decode(Self.ffmpegAVC) : try fixture("ffmpeg-5.1-x265.hvcC")
            let sensitive = min(bytes.count, 130)
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<sensitive, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                _ = try? VideoFormat.parse(codec: codec, configurationRecord: bytes[...])
                if let record = try? AVCConfigurationRecord.parse(bytes[...]) { _ = try? record.encoded() }
                if let record = try? HEVCConfigurationRecord.parse(bytes[...]) { _ = try? record.encoded() }
            }
        }
    }

    @Test func `other versions and missing sets are refused`() throws {
        #expect(throws: MediaError.invalid(.configurationVersion, value: 0, offset: 0)) {
            try AVCConfigurationRecord.parse([0, 1, 2, 3])
        }
        #expect(throws: MediaError.invalid(.configurationVersion, value: 2, offset: 0)) {
            try HEVCConfigurationRecord.parse([2, 1, 2, 3])
        }
        #expect(throws: MediaError.missing(.sequenceParameterSet)) {
            try AVCConfigurationRecord(sequenceParameterSets: [], pictureParameterSets: [[0x68]])
        }
        #expect(throws: MediaError.missing(.sequenceParameterSet)) {
            try VideoFormat(codec: .h264, configurationRecord: [1, 66, 0, 30, 0xFF, 0xE0, 0])
        }
        let sequence = try Hexadecimal.decode(avcSequences[0].unit)
        #expect(throws: MediaError.missing(.pictureParameterSet)) {
            try AVCConfigurationRecord(sequenceParameterSets: [sequence], pictureParameterSets: [])
        }
        #expect(throws: MediaError.missing(.videoParameterSet)) {
            try HEVCConfigurationRecord(
                videoParameterSets: [], sequenceParameterSets: [[0x42, 1]], pictureParameterSets: [[0x44, 1]])
        }
        #expect(throws: MediaError.tooLong(bytes: 65536, limit: 65535)) {
            try AVCConfigurationRecord(
                sequenceParameterSets: [sequence], pictureParameterSets: [[UInt8](repeating: 0x68, count: 65536)]
            ).encoded()
        }
        #expect(throws: MediaError.tooLong(bytes: 32, limit: 31)) {
            try AVCConfigurationRecord(
                sequenceParameterSets: [[UInt8]](repeating: sequence, count: 32), pictureParameterSets: [[0x68]]
            ).encoded()
        }
    }

    @Test func `a format takes its size from the record`() throws {
        let avc = try VideoFormat(codec: .h264, configurationRecord: try Hexadecimal.decode(Self.ffmpegAVC)[...])
        #expect(avc.width == 128)
        #expect(avc.height == 96)
        #expect(avc.frameRate == 25)
        let record = try fixture("ffmpeg-5.1-x265.hvcC")
        let hevc = try VideoFormat(codec: .hevc, configurationRecord: record[...])
        #expect(hevc == VideoFormat(codec: .hevc, width: 128, height: 96, frameRate: 25, configurationRecord: record))
    }

    @Test(arguments: [1, 2, 4])
    func `a format says four bytes of length, whatever its record said`(lengthSize: Int) throws {
        var avc = try Hexadecimal.decode(Self.ffmpegAVC)
        let original = avc
        avc[4] = 0xFC | UInt8(lengthSize - 1)
        let parsed = try VideoFormat.parse(codec: .h264, configurationRecord: avc[...])
        #expect(parsed.nalUnitLengthSize == lengthSize)
        #expect(parsed.format.configurationRecord == original)
        var hevc = try fixture("ffmpeg-5.1-x265.hvcC")
        let hevcOriginal = hevc
        hevc[21] = hevc[21] & 0xFC | UInt8(lengthSize - 1)
        let parsedHEVC = try VideoFormat.parse(codec: .hevc, configurationRecord: hevc[...])
        #expect(parsedHEVC.nalUnitLengthSize == lengthSize)
        #expect(parsedHEVC.format.configurationRecord == hevcOriginal)
    }

    @Test func `the frame rate comes from the video set when the sequence has none`() throws {
        var random = SeededGenerator(seed: 5)
        var (video, expected) = HEVCSequenceBuilder.randomVideoSet(&random)
        while expected.frameRate == nil { (video, expected) = HEVCSequenceBuilder.randomVideoSet(&random) }
        let last = hevcCases[5]
        let record = try HEVCConfigurationRecord(
            videoParameterSets: [video], sequenceParameterSets: [try Hexadecimal.decode(last.sequence)],
            pictureParameterSets: [try Hexadecimal.decode(last.picture)])
        #expect(
            try VideoFormat(codec: .hevc, configurationRecord: record.encoded()[...]).frameRate == expected.frameRate)
    }
}
