import Media
import TestSupport
import Testing
import Wire

@Suite struct ParameterSetsTests {
    @Test func `a format comes when the sets are complete, and again when they change`() throws {
        let first = try Hexadecimal.decode(avcSequences[0].unit)
        let second = try Hexadecimal.decode(avcSequences[1].unit)
        let picture = try Hexadecimal.decode("68cb83cb20")
        var sets = ParameterSets(codec: .h264)
        #expect(try sets.update(with: AnnexB.lengthPrefixed([first[...]])[...]) == nil)
        let format = try sets.update(with: AnnexB.lengthPrefixed([picture[...], [0x65, 1]])[...])
        #expect(format?.width == 176)
        // The same sets before each key frame say nothing new.
        #expect(try sets.update(with: AnnexB.lengthPrefixed([first[...], picture[...], [0x65, 1]])[...]) == nil)
        let changed = try sets.update(with: AnnexB.lengthPrefixed([second[...], picture[...], [0x65, 1]])[...])
        #expect(changed?.width == 1920)
        #expect(changed?.frameRate == 30000.0 / 1001)
        #expect(
            try changed.map { try AVCConfigurationRecord.parse($0.configurationRecord[...]) }?.sequenceParameterSets
                == [second])
    }

    @Test func `sets behind the first slice are not looked for`() throws {
        let first = try Hexadecimal.decode(avcSequences[0].unit)
        var sets = ParameterSets(codec: .h264)
        #expect(try sets.update(with: AnnexB.lengthPrefixed([[0x65, 1], first[...], [0x68, 0xCE]])[...]) == nil)
        #expect(sets == ParameterSets(codec: .h264))
    }

    @Test func `sets of several ids stand side by side`() throws {
        var sets = ParameterSets(codec: .h264)
        try sets.insert(try Hexadecimal.decode(avcSequences[0].unit)[...])
        for id in [0, 3, 255] {
            var writer = BitWriter()
            writer.bits(0x68, 8)
            writer.unsignedExpGolomb(id)
            writer.unsignedExpGolomb(0)
            try sets.insert(writer.nalUnit()[...])
        }
        let format = try #require(try sets.takeFormat())
        #expect(try AVCConfigurationRecord.parse(format.configurationRecord[...]).pictureParameterSets.count == 3)
        #expect(try sets.takeFormat() == nil)
    }

    @Test func `a recording of ffmpeg gives the format that its container has`() throws {
        let bytes = try fixture("ffmpeg-5.1-x265.hevc")
        var sets = ParameterSets(codec: .hevc)
        let units = AnnexB.units(in: bytes[...]).prefix(3)
        for unit in units { try sets.insert(unit) }
        let format = try #require(try sets.takeFormat())
        let container = try fixture("ffmpeg-5.1-x265.hvcC")
        // The container adds a fourth array, of supplemental information.
        #expect(
            format.configurationRecord.dropFirst(23) == container.prefix(format.configurationRecord.count).dropFirst(23)
        )
        #expect(format.configurationRecord.prefix(22) == container.prefix(22))
        #expect((format.width, format.height, format.frameRate) == (128, 96, 25))

        let avc = try fixture("ffmpeg-5.1-x264.h264")
        var avcSets = ParameterSets(codec: .h264)
        let avcFormat = try avcSets.update(with: AnnexB.lengthPrefixed(avc[...])[...])
        #expect(avcFormat?.configurationRecord == (try Hexadecimal.decode(ConfigurationRecordTests.ffmpegAVC)))
    }

    @Test func `a set that cannot be read is not kept`() throws {
        var sets = ParameterSets(codec: .h264)
        #expect(throws: MediaError.truncatedBits(offset: 8, needed: 8, available: 0)) { try sets.insert([0x67]) }
        #expect(throws: MediaError.tooLong(bytes: 65536, limit: 65535)) {
            try sets.insert([UInt8](repeating: 0x67, count: 65536)[...])
        }
        #expect(sets == ParameterSets(codec: .h264))
    }

    @Test(arguments: UInt64(1)...64)
    func `damaged recordings throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for (name, codec) in [("ffmpeg-5.1-x264.h264", VideoCodec.h264), ("ffmpeg-5.1-x265.hevc", .hevc)] {
            // The sets stand at the front; with 3 kB of it, flips often meet them.
            var bytes = Array(try fixture(name).prefix(3000))
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                bytes[Int.random(in: 0..<100, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                var sets = ParameterSets(codec: codec)
                for unit in AnnexB.units(in: bytes[...]) { try? sets.insert(unit) }
                _ = try? sets.takeFormat()
                _ = try? sets.update(with: bytes[...])
                _ = try? codec.isKeyFrame(bytes[...])
                for lengthSize in 1...4 { _ = try? LengthPrefixedUnits.widened(bytes[...], from: lengthSize) }
            }
        }
    }
}
