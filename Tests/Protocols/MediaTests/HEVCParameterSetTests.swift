import TestSupport
import Testing
import Wire

@testable import Media

/// Parameter sets as an encoder made them, and what ffprobe says of the stream.
struct HEVCCase: CustomTestStringConvertible, Sendable {
    var origin: String
    var video: String
    var sequence: String
    var picture: String
    var profile: UInt8
    var level: UInt8
    var isHighTier = false
    var chromaFormat = 1
    var bitDepth = 8
    var width: Int
    var height: Int
    var frameRate: Double?

    var testDescription: String { origin }
}

/// libx265 3.5 of Debian 12 through ffmpeg 5.1.9.
let hevcCases: [HEVCCase] = [
    HEVCCase(
        origin: "x265 main 1080p", video: "40010c01ffff016000000300900000030000030078959809",
        sequence: "420101016000000300900000030000030078a003c08010e596566924caf01680800001f480003a9804",
        picture: "4401c172b46240", profile: 1, level: 120, width: 1920, height: 1080, frameRate: 30000.0 / 1001),
    HEVCCase(
        origin: "x265 main 10", video: "40010c01ffff02200000030090000003000003003c959809",
        sequence: "42010102200000030090000003000003003ca00a080f1365959a4932bc05a02000000300200000030321",
        picture: "4401c172b46240", profile: 2, level: 60, bitDepth: 10, width: 320, height: 240, frameRate: 25),
    HEVCCase(
        origin: "x265 4:2:2", video: "40010c01ffff0408000003009d0800000300003f959809",
        sequence: "4201010408000003009d0800000300003fb00a480f9c93e5959a4932bc05a020000003002000000641",
        picture: "4401c172b46240", profile: 4, level: 63, chromaFormat: 2, width: 322, height: 242, frameRate: 50),
    HEVCCase(
        origin: "x265 4:4:4, odd size", video: "40010c01ffff0408000003009e0800000300003c959809",
        sequence: "4201010408000003009e0800000300003c90014101f3926cb2b349265780b4040000030004000003006020",
        picture: "4401c172860c4624", profile: 4, level: 60, chromaFormat: 3, width: 317, height: 243, frameRate: 24),
    HEVCCase(
        origin: "x265 with scaling lists, temporal layers, HRD",
        video: "40010c02ffff01600000030090000003000003009600009598acc048",
        sequence:
            "42010201600000030090000003000003"
            + "00960000a005020169659598acd249caf0168080000003008000000f300a4b370007a12000f425c001e848003d0910",
        picture: "4401c172b46240", profile: 1, level: 150, isHighTier: false, width: 640, height: 360, frameRate: 30),
    HEVCCase(
        origin: "x265 without timing, with colours and a display window",
        video: "40010c01ffff01600000030090000003000003005a9d8a0240",
        sequence: "42010101600000030090000003000003005aa005020169659d8a924caf024e0202036c5b6c20",
        picture: "4401c172b46240", profile: 1, level: 90, width: 640, height: 360, frameRate: nil),
]

@Suite struct HEVCParameterSetTests {
    @Test(arguments: hevcCases)
    func `sets of real encoders`(set: HEVCCase) throws {
        let sequence = try HEVCSequenceParameterSet.parse(try Hexadecimal.decode(set.sequence)[...])
        #expect(sequence.id == 0)
        #expect(sequence.videoParameterSetID == 0)
        #expect(sequence.profile.profile == set.profile)
        #expect(sequence.profile.level == set.level)
        #expect(sequence.profile.isHighTier == set.isHighTier)
        #expect(sequence.chromaFormat == set.chromaFormat)
        #expect(sequence.lumaBitDepth == set.bitDepth)
        #expect(sequence.chromaBitDepth == set.bitDepth)
        #expect(sequence.width == set.width)
        #expect(sequence.height == set.height)
        #expect(sequence.frameRate == set.frameRate)
        let video = try HEVCVideoParameterSet.parse(try Hexadecimal.decode(set.video)[...])
        #expect(video.id == 0)
        #expect(video.profile == sequence.profile)
        #expect(video.temporalLayers == sequence.temporalLayers)
        #expect(video.temporalIDIsNested == sequence.temporalIDIsNested)
        let picture = try HEVCPictureParameterSet.parse(try Hexadecimal.decode(set.picture)[...])
        #expect(picture == HEVCPictureParameterSet(id: 0, sequenceParameterSetID: 0))
    }

    @Test(arguments: hevcCases)
    func `a strict prefix is truncated, or lacks the rate at most`(set: HEVCCase) throws {
        let unit = try Hexadecimal.decode(set.sequence)
        let whole = try HEVCSequenceParameterSet.parse(unit[...])
        var withoutRate = whole
        withoutRate.frameRate = nil
        var usableFrom: Int?
        var completeFrom: Int?
        for length in 0..<unit.count {
            do throws(MediaError) {
                let parsed = try HEVCSequenceParameterSet.parse(unit[..<length])
                #expect(parsed == (completeFrom == nil && parsed.frameRate == nil ? withoutRate : whole))
                if usableFrom == nil { usableFrom = length }
                if completeFrom == nil, parsed == whole { completeFrom = length }
            } catch {
                #expect(usableFrom == nil, "\(length) bytes")
                guard case .truncatedBits(let offset, let needed, let available) = error else {
                    Issue.record("\(length) bytes: \(error)")
                    continue
                }
                #expect(needed > available)
                #expect(offset + available == BitReader.rbsp(of: unit[..<length]).count * 8)
            }
        }
        #expect((completeFrom ?? unit.count) > unit.count / 2)
        // With its VUI cut off it is usable all the same.
        #expect(whole.frameRate == nil || (usableFrom ?? unit.count) < (completeFrom ?? unit.count))
    }

    @Test(arguments: UInt64(1)...64)
    func `flipped bits throw or return a sane size`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for set in hevcCases {
            for (text, offset) in [(set.sequence, 2), (set.video, 2), (set.picture, 2)] {
                var unit = try Hexadecimal.decode(text)
                for _ in 0..<8 {
                    unit[Int.random(in: offset..<unit.count, using: &random)] ^=
                        1 << UInt8.random(in: 0...7, using: &random)
                    _ = try? HEVCVideoParameterSet.parse(unit[...])
                    _ = try? HEVCPictureParameterSet.parse(unit[...])
                    guard let parsed = try? HEVCSequenceParameterSet.parse(unit[...]) else { continue }
                    #expect(parsed.width > 0 && parsed.width <= 16888)
                    #expect(parsed.height > 0 && parsed.height <= 16888)
                    #expect(parsed.frameRate.map { $0 > 0 && $0.isFinite } ?? true)
                }
            }
        }
    }

    @Test(arguments: UInt64(1)...128)
    func `sequences with any of the optional fields`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (unit, expected) = HEVCSequenceBuilder.random(&random)
        #expect(try HEVCSequenceParameterSet.parse(unit[...]) == expected)
    }

    @Test(arguments: UInt64(1)...64)
    func `video sets with layer sets and timing`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (unit, expected) = HEVCSequenceBuilder.randomVideoSet(&random)
        #expect(try HEVCVideoParameterSet.parse(unit[...]) == expected)
    }

    @Test(arguments: [
        ("c2010101", MediaError.invalid(.forbiddenZeroBit, value: 1, offset: 1)),
        ("40010101", .invalid(.nalUnitType, value: 32, offset: 7)),
        ("42090101", .invalid(.nuhLayerID, value: 1, offset: 13)),
        ("42010e01", .invalid(.temporalLayers, value: 8, offset: 23)),
        ("", .truncatedBits(offset: 0, needed: 1, available: 0)),
    ])
    func `another unit is refused`(hexadecimal: String, error: MediaError) throws {
        let unit = try Hexadecimal.decode(hexadecimal)
        #expect(throws: error) { try HEVCSequenceParameterSet.parse(unit[...]) }
    }
}
