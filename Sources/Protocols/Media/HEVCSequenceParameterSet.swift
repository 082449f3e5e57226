/// Sequence parameter set of H.265: what a configuration record and a viewer need of it (ITU-T H.265 §7.3.2.2,
/// annex E.2.1 as far as the timing).
public struct HEVCSequenceParameterSet: Equatable, Sendable {
    /// 0…15.
    public var id: Int
    /// 0…15.
    public var videoParameterSetID: Int
    public var profile: HEVCProfile
    /// 1…7.
    public var temporalLayers: Int
    public var temporalIDIsNested: Bool
    /// chroma_format_idc: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormat: Int
    public var lumaBitDepth: Int
    public var chromaBitDepth: Int
    /// Pixels within the conformance window.
    public var width: Int
    public var height: Int
    /// Frames per second by the VUI; nil when it does not say, or cannot be read.
    public var frameRate: Double?

    /// Parses a whole NAL unit of the base layer, with its two header bytes and with emulation prevention.
    public static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> HEVCSequenceParameterSet {
        try read(unit).set
    }

    /// The same, with what slice segment headers depend on.
    static func read(
        _ unit: ArraySlice<UInt8>
    ) throws(MediaError) -> (set: HEVCSequenceParameterSet, syntax: HEVCSequenceSyntax) {
        var reader = BitReader(nalUnit: unit)
        try reader.hevcHeader(type: 33)
        let videoParameterSetID = Int(try reader.bits(4))
        let temporalLayers = try reader.temporalLayers()
        let isNested = try reader.flag()
        let profile = try HEVCProfile.parse(&reader, temporalLayers: temporalLayers)
        let id = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 15)
        let chromaFormat = try reader.unsignedExpGolomb(.chromaFormat, upTo: 3)
        let isSeparate = chromaFormat == 3 ? try reader.flag() : false
        let (coded, cropped) = try size(&reader, chromaFormat: isSeparate ? 0 : chromaFormat)
        let lumaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 8) + 8
        let chromaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 8) + 8
        let orderCountBits = try reader.unsignedExpGolomb(.pictureOrderCount, upTo: 12) + 4
        try reader.passSubLayerOrdering(temporalLayers: temporalLayers)
        let tools = try codingTools(&reader)
        let references = try referencePictures(&reader, orderCountBits: orderCountBits)
        let predictsMotionInTime = try reader.flag()
        try reader.skip(1)  // strong_intra_smoothing_enabled_flag
        // The VUI stands last, and nothing but the rate is taken of it: a set in which it is cut or broken is usable.
        let frameRate = try? usabilityRate(&reader)
        let blockSize = 1 << tools.blockSizeBits
        let blocks = ((coded.width + blockSize - 1) / blockSize) * ((coded.height + blockSize - 1) / blockSize)
        let syntax = HEVCSequenceSyntax(
            id: id, profile: profile.profile, hasSeparatePlanes: isSeparate,
            chromaArrayType: isSeparate ? 0 : chromaFormat, blocks: blocks, orderCountBits: orderCountBits,
            hasSampleAdaptiveOffset: tools.hasSampleAdaptiveOffset, sets: references.sets,
            longTermIsUsed: references.longTermIsUsed, predictsMotionInTime: predictsMotionInTime)
        let set = HEVCSequenceParameterSet(
            id: id, videoParameterSetID: videoParameterSetID, profile: profile, temporalLayers: temporalLayers,
            temporalIDIsNested: isNested, chromaFormat: chromaFormat, lumaBitDepth: lumaBitDepth,
            chromaBitDepth: chromaBitDepth, width: cropped.width, height: cropped.height, frameRate: frameRate)
        return (set, syntax)
    }

    private typealias Size = (width: Int, height: Int)

    private static func size(
        _ reader: inout BitReader, chromaFormat: Int
    ) throws(MediaError) -> (coded: Size, cropped: Size) {
        // 16 888 is the longest side at level 6.2: sqrt(8 × 35 651 584) and a little.
        let width = try reader.unsignedExpGolomb(.frameWidth, upTo: 16_888)
        let height = try reader.unsignedExpGolomb(.frameHeight, upTo: 16_888)
        guard width > 0 else { throw .invalid(.frameWidth, value: 0, offset: reader.offset) }
        guard height > 0 else { throw .invalid(.frameHeight, value: 0, offset: reader.offset) }
        let coded = (width, height)
        guard try reader.flag() else { return (coded, coded) }
        let unitX = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
        return (
            coded,
            try reader.cropped(width: width, height: height, unitX: unitX, unitY: chromaFormat == 1 ? 2 : 1)
        )
    }

    /// From log2_min_luma_coding_block_size_minus3 to the PCM fields: CtbLog2SizeY, and sample_adaptive_offset_enabled_flag.
    private static func codingTools(
        _ reader: inout BitReader
    ) throws(MediaError) -> (blockSizeBits: Int, hasSampleAdaptiveOffset: Bool) {
        let smallest = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 4) + 3
        let blockSizeBits = smallest + (try reader.unsignedExpGolomb(.codingBlockSize, upTo: 4))
        // Sizes of transform blocks, and depths of their hierarchies.
        for _ in 0..<4 { _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 4) }
        if try reader.flag(), try reader.flag() { try reader.passScalingLists() }
        try reader.skip(1)  // amp_enabled_flag
        let hasSampleAdaptiveOffset = try reader.flag()
        if try reader.flag() {
            try reader.skip(8)  // PCM sample bit depths
            _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 2)
            _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 2)
            try reader.skip(1)  // pcm_loop_filter_disabled_flag
        }
        return (blockSizeBits, hasSampleAdaptiveOffset)
    }

    /// The short-term sets, and used_by_curr_pic_lt_sps_flag of each long-term picture; nil: there are none of these.
    private static func referencePictures(
        _ reader: inout BitReader, orderCountBits: Int
    ) throws(MediaError) -> (sets: [HEVCReferencePictureSet], longTermIsUsed: [Bool]?) {
        var sets: [HEVCReferencePictureSet] = []
        for _ in 0..<(try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 64)) {
            sets.append(try HEVCReferencePictureSet.parse(&reader, behind: sets, isInSlice: false))
        }
        guard try reader.flag() else { return (sets, nil) }
        var longTermIsUsed: [Bool] = []
        for _ in 0..<(try reader.unsignedExpGolomb(.longTermReferencePictures, upTo: 32)) {
            try reader.skip(orderCountBits)
            longTermIsUsed.append(try reader.flag())
        }
        return (sets, longTermIsUsed)
    }

    /// The VUI, if there is one, as far as the timing (§E.2.1); what follows it is not needed and not read.
    private static func usabilityRate(_ reader: inout BitReader) throws(MediaError) -> Double? {
        guard try reader.flag() else { return nil }  // vui_parameters_present_flag
        try reader.passVUIUpToChromaLocation()
        try reader.skip(3)  // neutral_chroma_indication_flag, field_seq_flag, frame_field_info_present_flag
        if try reader.flag() {
            for _ in 0..<4 { _ = try reader.unsignedExpGolomb() }  // default display window
        }
        return try reader.flag() ? try reader.hevcTiming() : nil
    }
}

extension BitReader {
    /// scaling_list_data (§7.3.4).
    mutating func passScalingLists() throws(MediaError) {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                guard try flag() else {
                    _ = try unsignedExpGolomb(.scalingListDelta, upTo: 5)
                    continue
                }
                if size > 1 { _ = try signedExpGolomb() }
                for _ in 0..<min(64, 1 << (4 + size * 2)) { _ = try signedExpGolomb() }
            }
        }
    }
}
