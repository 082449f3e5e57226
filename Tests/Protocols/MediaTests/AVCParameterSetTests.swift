import TestSupport
import Testing
import Wire

@testable import Media

/// A parameter set as an encoder made it, and what ffprobe says of the stream.
struct AVCSequenceCase: CustomTestStringConvertible, Sendable {
    var origin: String
    var unit: String
    var profile: UInt8
    var level: UInt8
    var chromaFormat = 1
    var bitDepth = 8
    var width: Int
    var height: Int
    var isProgressive = true
    var frameRate: Double

    var testDescription: String { origin }
}

/// libx264 of Debian 12 (core 164) through ffmpeg 5.1.9.
let avcSequences: [AVCSequenceCase] = [
    AVCSequenceCase(
        origin: "x264 baseline", unit: "6742c00ad902c4ec0440000003004000000783c48992", profile: 66, level: 10,
        width: 176, height: 144, frameRate: 15),
    AVCSequenceCase(
        origin: "x264 high 1080p", unit: "67640028acd940780227e5c04400000fa40003a9803c60c658", profile: 100, level: 40,
        width: 1920, height: 1080, frameRate: 30000.0 / 1001),
    AVCSequenceCase(
        origin: "x264 main interlaced", unit: "674d401eeca05a126c0440000003004000000c87c50a6580", profile: 77,
        level: 30, width: 720, height: 576, isProgressive: false, frameRate: 25),
    AVCSequenceCase(
        origin: "x264 high 10", unit: "676e0020a6cd9405005bb011000003000100000300640f183196", profile: 110, level: 32,
        bitDepth: 10, width: 1280, height: 720, frameRate: 50),
    AVCSequenceCase(
        origin: "x264 high 4:2:2", unit: "677a000dbcd9415087888fc044000003000400000300c83c50a658", profile: 122,
        level: 13, chromaFormat: 2, width: 322, height: 242, frameRate: 25),
    AVCSequenceCase(
        origin: "x264 high 4:4:4, odd size", unit: "67f4000d919b282810f2476022000003000200000300601e28532c",
        profile: 244, level: 13, chromaFormat: 3, width: 317, height: 243, frameRate: 24),
    AVCSequenceCase(
        origin: "x264 gray", unit: "6764000af365109f8fc05b2000000300200000030041e244b2c0", profile: 100, level: 10,
        chromaFormat: 0, width: 64, height: 50, frameRate: 1),
    AVCSequenceCase(
        origin: "x264 with HRD", unit: "6764001eacd940a02ff970110000030001000003003c604000f424001e84e4c30078b16cb0",
        profile: 100, level: 30, width: 640, height: 360, frameRate: 30),
]

@Suite struct AVCParameterSetTests {
    @Test(arguments: avcSequences)
    func `sets of real encoders`(set: AVCSequenceCase) throws {
        let parsed = try AVCSequenceParameterSet.parse(try Hexadecimal.decode(set.unit)[...])
        #expect(parsed.id == 0)
        #expect(parsed.profile == set.profile)
        #expect(parsed.level == set.level)
        #expect(parsed.chromaFormat == set.chromaFormat)
        #expect(parsed.lumaBitDepth == set.bitDepth)
        #expect(parsed.chromaBitDepth == set.bitDepth)
        #expect(parsed.width == set.width)
        #expect(parsed.height == set.height)
        #expect(parsed.isProgressive == set.isProgressive)
        #expect(parsed.frameRate == set.frameRate)
    }

    @Test(arguments: avcSequences)
    func `a strict prefix is truncated, or lacks the rate at most`(set: AVCSequenceCase) throws {
        let unit = try Hexadecimal.decode(set.unit)
        let whole = try AVCSequenceParameterSet.parse(unit[...])
        var withoutRate = whole
        withoutRate.frameRate = nil
        var usableFrom: Int?
        var completeFrom: Int?
        for length in 0..<unit.count {
            do throws(MediaError) {
                let parsed = try AVCSequenceParameterSet.parse(unit[..<length])
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
        // Only what follows the timing may be missing.
        #expect((completeFrom ?? unit.count) > unit.count / 2)
        // With its VUI cut off it is usable all the same.
        #expect(whole.frameRate == nil || (usableFrom ?? unit.count) < (completeFrom ?? unit.count))
    }

    @Test(arguments: UInt64(1)...64)
    func `flipped bits throw or return a sane size`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for set in avcSequences {
            var unit = try Hexadecimal.decode(set.unit)
            for _ in 0..<8 {
                unit[Int.random(in: 1..<unit.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
                guard let parsed = try? AVCSequenceParameterSet.parse(unit[...]) else { continue }
                #expect(parsed.width > 0 && parsed.width <= 16896)
                #expect(parsed.height > 0 && parsed.height <= 33792)
                #expect(parsed.frameRate.map { $0 > 0 && $0.isFinite } ?? true)
            }
        }
    }

    @Test(arguments: UInt64(1)...128)
    func `sets with any of the optional fields`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (unit, expected) = randomSequence(&random)
        #expect(try AVCSequenceParameterSet.parse(unit[...]) == expected)
    }

    @Test(arguments: [
        ("e742c00ad902c4", MediaError.invalid(.forbiddenZeroBit, value: 1, offset: 1)),
        ("6842c00ad902c4", .invalid(.nalUnitType, value: 8, offset: 8)),
        ("", .truncatedBits(offset: 0, needed: 1, available: 0)),
    ])
    func `another unit is refused`(hexadecimal: String, error: MediaError) throws {
        let unit = try Hexadecimal.decode(hexadecimal)
        #expect(throws: error) { try AVCSequenceParameterSet.parse(unit[...]) }
    }

    @Test func `values beyond the standard are refused where they stand`() throws {
        func set(id: Int = 0, references: Int = 1, width: Int = 10, crop: Int? = nil) -> [UInt8] {
            var writer = BitWriter()
            writer.bits(0x67, 8)
            writer.bits(66, 8)
            writer.bits(0, 8)
            writer.bits(30, 8)
            writer.unsignedExpGolomb(id)
            writer.unsignedExpGolomb(0)
            writer.unsignedExpGolomb(2)
            writer.unsignedExpGolomb(references)
            writer.flag(false)
            writer.unsignedExpGolomb(width)
            writer.unsignedExpGolomb(10)
            writer.flag(true)
            writer.flag(true)
            writer.flag(crop != nil)
            if let crop { for _ in 0..<4 { writer.unsignedExpGolomb(crop) } }
            writer.flag(false)
            return writer.nalUnit()
        }
        #expect(try AVCSequenceParameterSet.parse(set()[...]).width == 176)
        #expect(try AVCSequenceParameterSet.parse(set(id: 31)[...]).id == 31)
        #expect(throws: MediaError.invalid(.sequenceParameterSetID, value: 32, offset: 43)) {
            try AVCSequenceParameterSet.parse(set(id: 32)[...])
        }
        #expect(try AVCSequenceParameterSet.parse(set(references: 16)[...]).maximumReferenceFrames == 16)
        #expect(throws: MediaError.invalid(.referenceFrames, value: 17, offset: 46)) {
            try AVCSequenceParameterSet.parse(set(references: 17)[...])
        }
        #expect(try AVCSequenceParameterSet.parse(set(width: 1055)[...]).width == 16896)
        #expect(throws: MediaError.self) { try AVCSequenceParameterSet.parse(set(width: 1056)[...]) }
        #expect(try AVCSequenceParameterSet.parse(set(crop: 43)[...]).width == 4)
        #expect(throws: MediaError.invalid(.croppingWindow, value: 176, offset: 102)) {
            try AVCSequenceParameterSet.parse(set(crop: 44)[...])
        }
        #expect(throws: MediaError.self) { try AVCSequenceParameterSet.parse(set(crop: 4_294_967_294)[...]) }
    }

    @Test(arguments: ["68cb83cb20", "68ebe3cb22c0", "68fba3cb20", "68ebe3c44844"])
    func `picture sets of real encoders name sequence 0`(hexadecimal: String) throws {
        let parsed = try AVCPictureParameterSet.parse(try Hexadecimal.decode(hexadecimal)[...])
        #expect(parsed == AVCPictureParameterSet(id: 0, sequenceParameterSetID: 0))
    }

    @Test func `ids of picture sets end at 255 and 31`() throws {
        func set(_ id: Int, _ sequence: Int) -> [UInt8] {
            var writer = BitWriter()
            writer.bits(0x68, 8)
            writer.unsignedExpGolomb(id)
            writer.unsignedExpGolomb(sequence)
            return writer.nalUnit()
        }
        #expect(
            try AVCPictureParameterSet.parse(set(255, 31)[...])
                == AVCPictureParameterSet(id: 255, sequenceParameterSetID: 31))
        #expect(throws: MediaError.invalid(.pictureParameterSetID, value: 256, offset: 25)) {
            try AVCPictureParameterSet.parse(set(256, 0)[...])
        }
        #expect(throws: MediaError.invalid(.sequenceParameterSetID, value: 32, offset: 20)) {
            try AVCPictureParameterSet.parse(set(0, 32)[...])
        }
        #expect(throws: MediaError.truncatedBits(offset: 8, needed: 1, available: 0)) {
            try AVCPictureParameterSet.parse([0x68])
        }
    }

    private func randomSequence(_ random: inout SeededGenerator) -> ([UInt8], AVCSequenceParameterSet) {
        func coin() -> Bool { Bool.random(using: &random) }
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let high: [UInt8] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]
        var set = AVCSequenceParameterSet(
            id: pick(0...31), profile: (coin() ? high : [66, 77, 88]).randomElement(using: &random)!,
            constraints: UInt8(pick(0...255)), level: UInt8(pick(9...62)), chromaFormat: 1, lumaBitDepth: 8,
            chromaBitDepth: 8, width: 0, height: 0, isProgressive: coin(), maximumReferenceFrames: pick(0...16))
        var writer = BitWriter()
        writer.bits(0x67, 8)
        writer.bits(UInt32(set.profile), 8)
        writer.bits(UInt32(set.constraints), 8)
        writer.bits(UInt32(set.level), 8)
        writer.unsignedExpGolomb(set.id)
        var separate = false
        if high.contains(set.profile) {
            set.chromaFormat = pick(0...3)
            set.lumaBitDepth = pick(8...14)
            set.chromaBitDepth = pick(8...14)
            writer.unsignedExpGolomb(set.chromaFormat)
            if set.chromaFormat == 3 {
                separate = coin()
                writer.flag(separate)
            }
            writer.unsignedExpGolomb(set.lumaBitDepth - 8)
            writer.unsignedExpGolomb(set.chromaBitDepth - 8)
            writer.flag(coin())
            let hasLists = coin()
            writer.flag(hasLists)
            if hasLists {
                for list in 0..<(set.chromaFormat == 3 ? 12 : 8) {
                    let isPresent = coin()
                    writer.flag(isPresent)
                    if isPresent { writeScalingList(list < 6 ? 16 : 64, &writer, &random) }
                }
            }
        }
        writer.unsignedExpGolomb(pick(0...12))
        let orderType = pick(0...2)
        writer.unsignedExpGolomb(orderType)
        if orderType == 0 { writer.unsignedExpGolomb(pick(0...12)) }
        if orderType == 1 {
            writer.flag(coin())
            writer.signedExpGolomb(Int32(pick(-9...9)))
            writer.signedExpGolomb(Int32(pick(-9...9)))
            let cycle = pick(0...255)
            writer.unsignedExpGolomb(cycle)
            for _ in 0..<cycle { writer.signedExpGolomb(Int32(pick(-99...99))) }
        }
        writer.unsignedExpGolomb(set.maximumReferenceFrames)
        writer.flag(coin())
        let width = pick(2...1055)
        let height = pick(2...1055)
        writer.unsignedExpGolomb(width)
        writer.unsignedExpGolomb(height)
        writer.flag(set.isProgressive)
        if !set.isProgressive { writer.flag(coin()) }
        writer.flag(coin())
        let fields = set.isProgressive ? 1 : 2
        set.width = (width + 1) * 16
        set.height = (height + 1) * 16 * fields
        let isCropped = coin()
        writer.flag(isCropped)
        if isCropped {
            let crop = (0..<4).map { _ in pick(0...5) }
            for offset in crop { writer.unsignedExpGolomb(offset) }
            let format = separate ? 0 : set.chromaFormat
            set.width -= (crop[0] + crop[1]) * [1, 2, 2, 1][format]
            set.height -= (crop[2] + crop[3]) * [1, 2, 1, 1][format] * fields
        }
        let hasVUI = coin()
        writer.flag(hasVUI)
        if hasVUI {
            writeVUIUpToChromaLocation(&writer, &random)
            let hasTiming = coin()
            writer.flag(hasTiming)
            if hasTiming {
                let units = UInt32(pick(0...3))
                let scale = UInt32(pick(0...120_000))
                writer.bits(units, 32)
                writer.bits(scale, 32)
                writer.flag(coin())
                if units > 0, scale > 0 { set.frameRate = Double(scale) / Double(units) / 2 }
            }
        }
        return (writer.nalUnit(), set)
    }

    private func writeScalingList(_ size: Int, _ writer: inout BitWriter, _ random: inout SeededGenerator) {
        var scale: Int32 = 8
        for _ in 0..<size {
            let delta = Int32.random(in: -128...127, using: &random)
            writer.signedExpGolomb(delta)
            scale = (scale + delta + 256) % 256
            if scale == 0 { return }
        }
    }
}

/// The part of the VUI that both codecs have.
func writeVUIUpToChromaLocation(_ writer: inout BitWriter, _ random: inout SeededGenerator) {
    func coin() -> Bool { Bool.random(using: &random) }
    let hasAspectRatio = coin()
    writer.flag(hasAspectRatio)
    if hasAspectRatio {
        let isExtended = coin()
        writer.bits(isExtended ? 255 : 1, 8)
        if isExtended { writer.bits(0x0001_0001, 32) }
    }
    let hasOverscan = coin()
    writer.flag(hasOverscan)
    if hasOverscan { writer.flag(coin()) }
    let hasSignalType = coin()
    writer.flag(hasSignalType)
    if hasSignalType {
        writer.bits(10, 4)
        let hasColour = coin()
        writer.flag(hasColour)
        if hasColour { writer.bits(0x01_0101, 24) }
    }
    let hasChromaLocation = coin()
    writer.flag(hasChromaLocation)
    if hasChromaLocation {
        writer.unsignedExpGolomb(2)
        writer.unsignedExpGolomb(3)
    }
}
