/// Sequence parameter set of H.264: what a configuration record and a viewer need of it (ITU-T H.264 §7.3.2.1.1,
/// annex E.1.1 as far as the timing).
public struct AVCSequenceParameterSet: Equatable, Sendable {
    /// 0…31.
    public var id: Int
    /// profile_idc.
    public var profile: UInt8
    /// The six constraint_set flags and two reserved bits, as they stand in the byte.
    public var constraints: UInt8
    /// Ten times the level, as level_idc (31 is level 3.1; 9 or 11 with constraint_set3 is 1b).
    public var level: UInt8
    /// chroma_format_idc: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: Int
    public var lumaBitDepth: Int
    public var chromaBitDepth: Int
    /// Pixels after cropping.
    public var width: Int
    public var height: Int
    /// False when frames may be encoded as fields.
    public var isProgressive: Bool
    public var maximumReferenceFrames: Int
    /// Frames per second by the VUI; nil when it does not say, or cannot be read.
    public var frameRate: Double?

    /// Parses a whole NAL unit, with its header byte and with emulation prevention.
    public static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> AVCSequenceParameterSet {
        try read(unit).set
    }

    /// The same, with what slice headers depend on.
    static func read(
        _ unit: ArraySlice<UInt8>
    ) throws(MediaError) -> (set: AVCSequenceParameterSet, syntax: AVCSequenceSyntax) {
        var reader = BitReader(nalUnit: unit)
        try reader.avcHeader(type: 7)
        let profile = UInt8(truncatingIfNeeded: try reader.bits(8))
        let constraints = UInt8(truncatingIfNeeded: try reader.bits(8))
        let level = UInt8(truncatingIfNeeded: try reader.bits(8))
        let id = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 31)

        var chroma = Chroma()
        if highProfiles.contains(profile) { chroma = try Chroma.parse(&reader) }

        let frameNumberBits = try reader.unsignedExpGolomb(.frameNumberBits, upTo: 12) + 4
        let order = try pictureOrder(&reader)
        let references = try reader.unsignedExpGolomb(.referenceFrames, upTo: 16)
        try reader.skip(1)  // gaps_in_frame_num_value_allowed_flag
        // 1056 macroblocks are the longest side at level 6.2: sqrt(8 × 139 264).
        let widthInMacroblocks = try reader.unsignedExpGolomb(.frameWidth, upTo: 1055) + 1
        let heightInMapUnits = try reader.unsignedExpGolomb(.frameHeight, upTo: 1055) + 1
        let framesOnly = try reader.flag()
        if !framesOnly { try reader.skip(1) }  // mb_adaptive_frame_field_flag
        try reader.skip(1)  // direct_8x8_inference_flag
        let (width, height) = try croppedSize(
            &reader, width: widthInMacroblocks * 16, height: heightInMapUnits * 16 * (framesOnly ? 1 : 2),
            chroma: chroma, framesOnly: framesOnly)
        // The VUI stands last, and nothing but the rate is taken of it: a set in which it is cut or broken is usable.
        let frameRate = try? usabilityRate(&reader)
        let syntax = AVCSequenceSyntax(
            id: id, hasSeparatePlanes: chroma.isSeparate, chromaArrayType: chroma.isSeparate ? 0 : chroma.format,
            frameNumberBits: frameNumberBits, order: order, framesOnly: framesOnly,
            mapUnits: widthInMacroblocks * heightInMapUnits)
        let set = AVCSequenceParameterSet(
            id: id, profile: profile, constraints: constraints, level: level, chromaFormat: chroma.format,
            lumaBitDepth: chroma.lumaBitDepth, chromaBitDepth: chroma.chromaBitDepth, width: width, height: height,
            isProgressive: framesOnly, maximumReferenceFrames: references, frameRate: frameRate)
        return (set, syntax)
    }

    /// The profiles whose sets say chroma format, bit depth and scaling lists (§7.3.2.1.1).
    private static let highProfiles: Set<UInt8> = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]

    private struct Chroma {
        var format = 1
        var isSeparate = false
        var lumaBitDepth = 8
        var chromaBitDepth = 8

        static func parse(_ reader: inout BitReader) throws(MediaError) -> Chroma {
            var chroma = Chroma()
            chroma.format = try reader.unsignedExpGolomb(.chromaFormat, upTo: 3)
            if chroma.format == 3 { chroma.isSeparate = try reader.flag() }
            chroma.lumaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 6) + 8
            chroma.chromaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 6) + 8
            try reader.skip(1)  // qpprime_y_zero_transform_bypass_flag
            if try reader.flag() {
                for list in 0..<(chroma.format == 3 ? 12 : 8) where try reader.flag() {
                    try passScalingList(&reader, size: list < 6 ? 16 : 64)
                }
            }
            return chroma
        }

        /// §7.3.2.1.1.1: deltas stop where the running scale becomes 0.
        private static func passScalingList(_ reader: inout BitReader, size: Int) throws(MediaError) {
            var scale: Int32 = 8
            for _ in 0..<size {
                let delta = try reader.signedExpGolomb()
                guard delta >= -128, delta <= 127 else {
                    throw .invalid(.scalingListDelta, value: UInt64(delta.magnitude), offset: reader.offset)
                }
                scale = (scale + delta + 256) % 256
                if scale == 0 { return }
            }
        }
    }

    private static func pictureOrder(_ reader: inout BitReader) throws(MediaError) -> AVCSequenceSyntax.Order {
        switch try reader.unsignedExpGolomb(.pictureOrderCount, upTo: 2) {
        case 0:
            return .leastBits(try reader.unsignedExpGolomb(.pictureOrderCount, upTo: 12) + 4)
        case 1:
            let isAlwaysZero = try reader.flag()
            _ = try reader.signedExpGolomb()
            _ = try reader.signedExpGolomb()
            for _ in 0..<(try reader.unsignedExpGolomb(.pictureOrderCount, upTo: 255)) {
                _ = try reader.signedExpGolomb()
            }
            return .cycle(hasDeltas: !isAlwaysZero)
        default:
            return .decodingOrder
        }
    }

    /// §7.4.2.1.1, equations 7-19 to 7-22.
    private static func croppedSize(
        _ reader: inout BitReader, width: Int, height: Int, chroma: Chroma, framesOnly: Bool
    ) throws(MediaError) -> (Int, Int) {
        guard try reader.flag() else { return (width, height) }
        let format = chroma.isSeparate ? 0 : chroma.format
        let unitX = format == 1 || format == 2 ? 2 : 1
        let unitY = (format == 1 ? 2 : 1) * (framesOnly ? 1 : 2)
        return try reader.cropped(width: width, height: height, unitX: unitX, unitY: unitY)
    }

    /// The VUI, if there is one, as far as the timing (§E.1.1); what follows it is not needed and not read.
    private static func usabilityRate(_ reader: inout BitReader) throws(MediaError) -> Double? {
        guard try reader.flag() else { return nil }  // vui_parameters_present_flag
        try reader.passVUIUpToChromaLocation()
        guard try reader.flag() else { return nil }
        let unitsInTick = try reader.bits(32)
        let timeScale = try reader.bits(32)
        try reader.skip(1)  // fixed_frame_rate_flag
        guard unitsInTick > 0, timeScale > 0 else { return nil }
        // A tick is a field (§E.2.1).
        return Double(timeScale) / (2 * Double(unitsInTick))
    }
}

/// The two ids that tie a picture parameter set of H.264 to its sequence (ITU-T H.264 §7.3.2.2).
public struct AVCPictureParameterSet: Equatable, Sendable {
    /// 0…255.
    public var id: Int
    /// 0…31.
    public var sequenceParameterSetID: Int

    /// Parses a whole NAL unit, with its header byte and with emulation prevention.
    public static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> AVCPictureParameterSet {
        // Two codes of at most 17 bits stand at the front.
        var reader = BitReader(nalUnit: unit.prefix(16))
        try reader.avcHeader(type: 8)
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 255)
        let sequence = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 31)
        return AVCPictureParameterSet(id: id, sequenceParameterSetID: sequence)
    }
}

extension BitReader {
    /// forbidden_zero_bit, nal_ref_idc, nal_unit_type (§7.3.1).
    mutating func avcHeader(type expected: UInt32) throws(MediaError) {
        guard try bits(1) == 0 else { throw .invalid(.forbiddenZeroBit, value: 1, offset: offset) }
        try skip(2)
        let type = try bits(5)
        guard type == expected else { throw .invalid(.nalUnitType, value: UInt64(type), offset: offset) }
    }
}
