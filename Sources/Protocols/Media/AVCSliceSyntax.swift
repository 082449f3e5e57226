/// What slice headers depend on of a sequence parameter set of H.264 (ITU-T H.264 §7.3.2.1.1).
struct AVCSequenceSyntax: Equatable, Sendable {
    /// pic_order_cnt_type, with what of it a slice header needs.
    enum Order: Equatable, Sendable {
        /// 0, and the bits of pic_order_cnt_lsb.
        case leastBits(Int)
        /// 1; the deltas are there when delta_pic_order_always_zero_flag is not.
        case cycle(hasDeltas: Bool)
        /// 2.
        case decodingOrder
    }

    var id: Int
    var hasSeparatePlanes: Bool
    /// 0 where planes are separate, or there is one.
    var chromaArrayType: Int
    var frameNumberBits: Int
    var order: Order
    var framesOnly: Bool
    /// PicSizeInMapUnits.
    var mapUnits: Int
}

/// What slice headers depend on of a picture parameter set of H.264 (ITU-T H.264 §7.3.2.2). What stands behind
/// redundant_pic_cnt_present_flag is not read.
struct AVCPictureSyntax: Equatable, Sendable {
    var id: Int
    var sequenceID: Int
    var isCABAC: Bool
    /// bottom_field_pic_order_in_frame_present_flag.
    var hasBottomFieldOrder: Bool
    /// Bits of slice_group_change_cycle for so many map units; nil where there is none.
    var groupChangeRate: Int?
    /// num_ref_idx_l0_default_active_minus1 plus one, and that of list 1.
    var defaultReferences: [Int]
    var weightsP: Bool
    /// weighted_bipred_idc is 1: explicit.
    var weightsB: Bool
    var hasDeblockingControl: Bool
    var hasRedundantCount: Bool

    /// Parses a whole NAL unit, with its header byte and with emulation prevention.
    static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> AVCPictureSyntax {
        var reader = BitReader(nalUnit: unit)
        try reader.avcHeader(type: 8)
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 255)
        let sequenceID = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 31)
        let isCABAC = try reader.flag()
        let hasBottomFieldOrder = try reader.flag()
        let groups = try reader.unsignedExpGolomb(.sliceGroups, upTo: 7) + 1
        let groupChangeRate = groups > 1 ? try groupChangeRate(&reader, groups: groups) : nil
        let references = [
            try reader.unsignedExpGolomb(.activeReferences, upTo: 31) + 1,
            try reader.unsignedExpGolomb(.activeReferences, upTo: 31) + 1,
        ]
        let weightsP = try reader.flag()
        let weightsB = try reader.bits(2)
        guard weightsB <= 2 else {
            throw .invalid(.predictionWeights, value: UInt64(weightsB), offset: reader.offset)
        }
        // pic_init_qp_minus26, pic_init_qs_minus26, chroma_qp_index_offset
        for _ in 0..<3 { _ = try reader.signedExpGolomb() }
        let hasDeblockingControl = try reader.flag()
        try reader.skip(1)  // constrained_intra_pred_flag
        return AVCPictureSyntax(
            id: id, sequenceID: sequenceID, isCABAC: isCABAC, hasBottomFieldOrder: hasBottomFieldOrder,
            groupChangeRate: groupChangeRate, defaultReferences: references, weightsP: weightsP,
            weightsB: weightsB == 1, hasDeblockingControl: hasDeblockingControl, hasRedundantCount: try reader.flag())
    }

    /// The map of slice groups; SliceGroupChangeRate where it has one.
    private static func groupChangeRate(_ reader: inout BitReader, groups: Int) throws(MediaError) -> Int? {
        // Map units of level 6.2, as for the sides of a frame.
        let mapUnits: UInt32 = 139_264
        switch try reader.unsignedExpGolomb(.sliceGroups, upTo: 6) {
        case 0:
            for _ in 0..<groups { _ = try reader.unsignedExpGolomb(.sliceGroups, upTo: mapUnits) }
        case 2:
            for _ in 0..<(2 * (groups - 1)) { _ = try reader.unsignedExpGolomb(.sliceGroups, upTo: mapUnits) }
        case 3, 4, 5:
            try reader.skip(1)  // slice_group_change_direction_flag
            return try reader.unsignedExpGolomb(.sliceGroups, upTo: mapUnits) + 1
        case 6:
            let count = try reader.unsignedExpGolomb(.sliceGroups, upTo: mapUnits) + 1
            try reader.skip(count * BitReader.bitsToCount(groups))
        default: break
        }
        return nil
    }
}

extension BitReader {
    /// Ceil(Log2(count)): bits of a number below `count`.
    static func bitsToCount(_ count: Int) -> Int {
        count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount
    }
}
