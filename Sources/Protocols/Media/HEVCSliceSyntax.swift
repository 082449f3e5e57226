/// What slice segment headers depend on of a sequence parameter set of H.265 (ITU-T H.265 §7.3.2.2).
struct HEVCSequenceSyntax: Equatable, Sendable {
    var id: Int
    /// general_profile_idc.
    var profile: UInt8
    var hasSeparatePlanes: Bool
    /// 0 where planes are separate, or there is one.
    var chromaArrayType: Int
    /// PicSizeInCtbsY.
    var blocks: Int
    var orderCountBits: Int
    var hasSampleAdaptiveOffset: Bool
    var sets: [HEVCReferencePictureSet]
    /// used_by_curr_pic_lt_sps_flag of each; nil: long_term_ref_pics_present_flag is not set.
    var longTermIsUsed: [Bool]?
    /// sps_temporal_mvp_enabled_flag.
    var predictsMotionInTime: Bool
}

/// What slice segment headers depend on of a picture parameter set of H.265 (ITU-T H.265 §7.3.2.3).
struct HEVCPictureSyntax: Equatable, Sendable {
    var id: Int
    var sequenceID: Int
    var hasDependentSegments: Bool
    var hasOutputFlag: Bool
    var extraBits: Int
    var hasCABACInit: Bool
    /// num_ref_idx_l0_default_active_minus1 plus one, and that of list 1.
    var defaultReferences: [Int]
    var hasChromaOffsets: Bool
    var weightsP: Bool
    var weightsB: Bool
    /// Tiles or wavefronts.
    var hasEntryPoints: Bool
    /// pps_loop_filter_across_slices_enabled_flag.
    var filtersAcrossSlices: Bool
    /// deblocking_filter_override_enabled_flag.
    var overridesDeblocking: Bool
    /// pps_deblocking_filter_disabled_flag.
    var isDeblockingDisabled: Bool
    /// lists_modification_present_flag.
    var modifiesLists: Bool
    var hasHeaderExtension: Bool
    /// chroma_qp_offset_list_enabled_flag.
    var hasChromaOffsetLists: Bool

    /// Parses a whole NAL unit of the base layer, with its two header bytes and with emulation prevention. The extensions for several layers, depth
    /// and screen content change the syntax of slices, and are refused.
    static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> HEVCPictureSyntax {
        var reader = BitReader(nalUnit: unit)
        try reader.hevcHeader(type: 34)
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 63)
        let sequenceID = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 15)
        let hasDependentSegments = try reader.flag()
        let hasOutputFlag = try reader.flag()
        let extraBits = Int(try reader.bits(3))
        try reader.skip(1)  // sign_data_hiding_enabled_flag
        let hasCABACInit = try reader.flag()
        let references = [
            try reader.unsignedExpGolomb(.activeReferences, upTo: 14) + 1,
            try reader.unsignedExpGolomb(.activeReferences, upTo: 14) + 1,
        ]
        _ = try reader.signedExpGolomb()  // init_qp_minus26
        try reader.skip(1)  // constrained_intra_pred_flag
        let skipsTransform = try reader.flag()
        if try reader.flag() { _ = try reader.unsignedExpGolomb() }  // diff_cu_qp_delta_depth
        for _ in 0..<2 { _ = try reader.signedExpGolomb() }  // pps_cb_qp_offset, pps_cr_qp_offset
        let hasChromaOffsets = try reader.flag()
        let weightsP = try reader.flag()
        let weightsB = try reader.flag()
        try reader.skip(1)  // transquant_bypass_enabled_flag
        let hasTiles = try reader.flag()
        let hasWavefronts = try reader.flag()
        if hasTiles { try passTiles(&reader) }
        let filtersAcrossSlices = try reader.flag()
        var overridesDeblocking = false
        var isDeblockingDisabled = false
        if try reader.flag() {
            overridesDeblocking = try reader.flag()
            isDeblockingDisabled = try reader.flag()
            if !isDeblockingDisabled { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
        }
        if try reader.flag() { try reader.passScalingLists() }
        let modifiesLists = try reader.flag()
        _ = try reader.unsignedExpGolomb()  // log2_parallel_merge_level_minus2
        let hasHeaderExtension = try reader.flag()
        return HEVCPictureSyntax(
            id: id, sequenceID: sequenceID, hasDependentSegments: hasDependentSegments, hasOutputFlag: hasOutputFlag,
            extraBits: extraBits, hasCABACInit: hasCABACInit, defaultReferences: references,
            hasChromaOffsets: hasChromaOffsets, weightsP: weightsP, weightsB: weightsB,
            hasEntryPoints: hasTiles || hasWavefronts, filtersAcrossSlices: filtersAcrossSlices,
            overridesDeblocking: overridesDeblocking, isDeblockingDisabled: isDeblockingDisabled,
            modifiesLists: modifiesLists, hasHeaderExtension: hasHeaderExtension,
            hasChromaOffsetLists: try extensionHasChromaOffsetLists(&reader, skipsTransform: skipsTransform))
    }

    private static func passTiles(_ reader: inout BitReader) throws(MediaError) {
        // 20 columns and 22 rows at level 6.2 (§A.4.2).
        let columns = try reader.unsignedExpGolomb(.tiles, upTo: 19)
        let rows = try reader.unsignedExpGolomb(.tiles, upTo: 21)
        if try !reader.flag() {
            for _ in 0..<(columns + rows) { _ = try reader.unsignedExpGolomb() }
        }
        try reader.skip(1)  // loop_filter_across_tiles_enabled_flag
    }

    private static func extensionHasChromaOffsetLists(
        _ reader: inout BitReader, skipsTransform: Bool
    ) throws(MediaError) -> Bool {
        guard try reader.flag() else { return false }
        let hasRange = try reader.flag()
        let others = try reader.bits(7)
        guard others == 0 else { throw .invalid(.headerExtension, value: UInt64(others), offset: reader.offset) }
        guard hasRange else { return false }
        if skipsTransform { _ = try reader.unsignedExpGolomb() }  // log2_max_transform_skip_block_size_minus2
        try reader.skip(1)  // cross_component_prediction_enabled_flag
        return try reader.flag()
    }
}
