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
        var reader = BitReader(nalUnit: unit)
        try reader.hevcHeader(type: 33)
        let videoParameterSetID = Int(try reader.bits(4))
        let temporalLayers = try reader.temporalLayers()
        let isNested = try reader.flag()
        let profile = try HEVCProfile.parse(&reader, temporalLayers: temporalLayers)
        let id = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 15)
        let chromaFormat = try reader.unsignedExpGolomb(.chromaFormat, upTo: 3)
        let isSeparate = chromaFormat == 3 ? try reader.flag() : false
        let (width, height) = try size(&reader, chromaFormat: isSeparate ? 0 : chromaFormat)
        let lumaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 8) + 8
        let chromaBitDepth = try reader.unsignedExpGolomb(.bitDepth, upTo: 8) + 8
        let orderCountBits = try reader.unsignedExpGolomb(.pictureOrderCount, upTo: 12) + 4
        try reader.passSubLayerOrdering(temporalLayers: temporalLayers)
        try passCodingTools(&reader, chromaFormat: chromaFormat)
        try passReferencePictures(&reader, orderCountBits: orderCountBits)
        try reader.skip(2)  // sps_temporal_mvp_enabled_flag, strong_intra_smoothing_enabled_flag
        // The VUI stands last, and nothing but the rate is taken of it: a set in which it is cut or broken is usable.
        let frameRate = try? usabilityRate(&reader)
        return HEVCSequenceParameterSet(
            id: id, videoParameterSetID: videoParameterSetID, profile: profile, temporalLayers: temporalLayers,
            temporalIDIsNested: isNested, chromaFormat: chromaFormat, lumaBitDepth: lumaBitDepth,
            chromaBitDepth: chromaBitDepth, width: width, height: height, frameRate: frameRate)
    }

    private static func size(
        _ reader: inout BitReader, chromaFormat: Int
    ) throws(MediaError) -> (width: Int, height: Int) {
        // 16 888 is the longest side at level 6.2: sqrt(8 × 35 651 584) and a little.
        let width = try reader.unsignedExpGolomb(.frameWidth, upTo: 16_888)
        let height = try reader.unsignedExpGolomb(.frameHeight, upTo: 16_888)
        guard width > 0 else { throw .invalid(.frameWidth, value: 0, offset: reader.offset) }
        guard height > 0 else { throw .invalid(.frameHeight, value: 0, offset: reader.offset) }
        guard try reader.flag() else { return (width, height) }
        let unitX = chromaFormat == 1 || chromaFormat == 2 ? 2 : 1
        return try reader.cropped(width: width, height: height, unitX: unitX, unitY: chromaFormat == 1 ? 2 : 1)
    }

    /// From log2_min_luma_coding_block_size_minus3 to the PCM fields.
    private static func passCodingTools(_ reader: inout BitReader, chromaFormat: Int) throws(MediaError) {
        for _ in 0..<4 { _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 4) }
        for _ in 0..<2 { _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 4) }  // transform hierarchy depths
        if try reader.flag(), try reader.flag() { try passScalingLists(&reader) }
        try reader.skip(2)  // amp_enabled_flag, sample_adaptive_offset_enabled_flag
        if try reader.flag() {
            try reader.skip(8)  // PCM sample bit depths
            _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 2)
            _ = try reader.unsignedExpGolomb(.codingBlockSize, upTo: 2)
            try reader.skip(1)  // pcm_loop_filter_disabled_flag
        }
    }

    /// scaling_list_data (§7.3.4).
    private static func passScalingLists(_ reader: inout BitReader) throws(MediaError) {
        for size in 0..<4 {
            for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
                guard try reader.flag() else {
                    _ = try reader.unsignedExpGolomb(.scalingListDelta, upTo: 5)
                    continue
                }
                if size > 1 { _ = try reader.signedExpGolomb() }
                for _ in 0..<min(64, 1 << (4 + size * 2)) { _ = try reader.signedExpGolomb() }
            }
        }
    }

    private static func passReferencePictures(
        _ reader: inout BitReader, orderCountBits: Int
    ) throws(MediaError) {
        var pictures = 0
        for set in 0..<(try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 64)) {
            pictures = try passShortTermSet(&reader, isFirst: set == 0, before: pictures)
        }
        guard try reader.flag() else { return }
        let longTerm = try reader.unsignedExpGolomb(.longTermReferencePictures, upTo: 32)
        try reader.skip(longTerm * (orderCountBits + 1))
    }

    /// st_ref_pic_set (§7.3.7).
    ///
    /// - Parameter before: NumDeltaPocs of the set before, from which this one may be predicted.
    /// - Returns: NumDeltaPocs of this one.
    private static func passShortTermSet(
        _ reader: inout BitReader, isFirst: Bool, before: Int
    ) throws(MediaError) -> Int {
        var pictures = 0
        if !isFirst, try reader.flag() {
            try reader.skip(1)  // delta_rps_sign
            _ = try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 0x7FFF)
            for _ in 0...before {
                // used_by_curr_pic_flag, and use_delta_flag where it is not set (7-61, 7-62)
                if try reader.flag() {
                    pictures += 1
                } else if try reader.flag() {
                    pictures += 1
                }
            }
        } else {
            let negative = try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 16)
            let positive = try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 16)
            pictures = negative + positive
            for _ in 0..<pictures {
                _ = try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 0x7FFF)
                try reader.skip(1)
            }
        }
        // sps_max_dec_pic_buffering is at most 16 (§A.4.2).
        guard pictures <= 16 else {
            throw .invalid(.shortTermReferencePictures, value: UInt64(pictures), offset: reader.offset)
        }
        return pictures
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
