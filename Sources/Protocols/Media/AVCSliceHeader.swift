/// How long a slice header of H.264 is (ITU-T H.264 §7.3.3). Nothing else of it is kept.
enum AVCSliceHeader {
    private enum Kind {
        case predicted, bipredicted, intra, switchingPredicted, switchingIntra

        /// slice_type, 0…9: those from 5 on say that all slices of the picture are alike.
        init(_ type: Int) {
            switch type % 5 {
            case 0: self = .predicted
            case 1: self = .bipredicted
            case 2: self = .intra
            case 3: self = .switchingPredicted
            default: self = .switchingIntra
            }
        }

        /// Lists of reference pictures that it has.
        var lists: Int {
            switch self {
            case .intra, .switchingIntra: 0
            case .predicted, .switchingPredicted: 1
            case .bipredicted: 2
            }
        }
    }

    /// - Parameters:
    ///   - unit: a coded slice, nal_unit_type 1 or 5, or its beginning.
    ///   - sets: the parameter sets, by the ID of the picture's.
    /// - Returns: bits of the RBSP from its first one up to the first macroblock: with alignment, where there is any.
    static func end(
        of unit: ArraySlice<UInt8>, sets: (Int) -> (sequence: AVCSequenceSyntax, picture: AVCPictureSyntax)?
    ) throws(MediaError) -> Int {
        var reader = BitReader(nalUnit: unit)
        guard try !reader.flag() else { throw .invalid(.forbiddenZeroBit, value: 1, offset: reader.offset) }
        let isReference = try reader.bits(2) != 0
        let type = try reader.bits(5)
        guard type == 1 || type == 5 else { throw .invalid(.nalUnitType, value: UInt64(type), offset: reader.offset) }
        let isIDR = type == 5
        _ = try reader.unsignedExpGolomb()  // first_mb_in_slice
        let kind = Kind(try reader.unsignedExpGolomb(.sliceType, upTo: 9))
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 255)
        guard let (sequence, picture) = sets(id) else { throw .missing(.pictureParameterSet) }
        if sequence.hasSeparatePlanes { try reader.skip(2) }
        try reader.skip(sequence.frameNumberBits)
        let isField = try sequence.framesOnly ? false : reader.flag()
        if isField { try reader.skip(1) }  // bottom_field_flag
        if isIDR { _ = try reader.unsignedExpGolomb() }  // idr_pic_id
        try passOrder(&reader, sequence, hasBottom: picture.hasBottomFieldOrder && !isField)
        if picture.hasRedundantCount { _ = try reader.unsignedExpGolomb() }
        if kind == .bipredicted { try reader.skip(1) }  // direct_spatial_mv_pred_flag
        var references = Array(picture.defaultReferences.prefix(kind.lists))
        if kind.lists > 0, try reader.flag() {
            for list in references.indices {
                references[list] = try reader.unsignedExpGolomb(.activeReferences, upTo: 31) + 1
            }
        }
        for _ in references { try passListModification(&reader) }
        let isWeighted = kind == .bipredicted ? picture.weightsB : kind.lists == 1 && picture.weightsP
        if isWeighted { try passWeights(&reader, references, hasChroma: sequence.chromaArrayType != 0) }
        if isReference { try passMarking(&reader, isIDR: isIDR) }
        if picture.isCABAC, kind.lists > 0 {
            _ = try reader.unsignedExpGolomb()  // cabac_init_idc
        }
        _ = try reader.signedExpGolomb()  // slice_qp_delta
        if kind == .switchingPredicted { try reader.skip(1) }  // sp_for_switch_flag
        if kind == .switchingPredicted || kind == .switchingIntra {
            _ = try reader.signedExpGolomb()  // slice_qs_delta
        }
        if picture.hasDeblockingControl, try reader.unsignedExpGolomb() != 1 {
            for _ in 0..<2 { _ = try reader.signedExpGolomb() }
        }
        if let rate = picture.groupChangeRate {
            // slice_group_change_cycle: Ceil(Log2(PicSizeInMapUnits ÷ SliceGroupChangeRate + 1)), without truncation.
            try reader.skip(BitReader.bitsToCount((sequence.mapUnits + rate - 1) / rate + 1))
        }
        if picture.isCABAC { try passAlignment(&reader) }
        return reader.offset
    }

    /// cabac_alignment_one_bit. Where it is something else, what was read before was not what was written.
    private static func passAlignment(_ reader: inout BitReader) throws(MediaError) {
        while reader.offset % 8 > 0 {
            guard try reader.flag() else { throw .invalid(.alignment, value: 0, offset: reader.offset) }
        }
    }

    private static func passOrder(
        _ reader: inout BitReader, _ sequence: AVCSequenceSyntax, hasBottom: Bool
    ) throws(MediaError) {
        switch sequence.order {
        case .leastBits(let count):
            try reader.skip(count)
            if hasBottom { _ = try reader.signedExpGolomb() }
        case .cycle(let hasDeltas):
            guard hasDeltas else { return }
            for _ in 0..<(hasBottom ? 2 : 1) { _ = try reader.signedExpGolomb() }
        case .decodingOrder: break
        }
    }

    /// ref_pic_list_modification of one list (§7.3.3.1).
    private static func passListModification(_ reader: inout BitReader) throws(MediaError) {
        guard try reader.flag() else { return }
        // One for each entry of the list at most, and the end.
        for _ in 0...32 {
            let operation = try reader.unsignedExpGolomb(.referenceListModification, upTo: 3)
            if operation == 3 { return }
            _ = try reader.unsignedExpGolomb()
        }
        throw .invalid(.referenceListModification, value: 33, offset: reader.offset)
    }

    /// pred_weight_table (§7.3.3.2).
    private static func passWeights(
        _ reader: inout BitReader, _ references: [Int], hasChroma: Bool
    ) throws(MediaError) {
        _ = try reader.unsignedExpGolomb(.predictionWeights, upTo: 7)
        if hasChroma { _ = try reader.unsignedExpGolomb(.predictionWeights, upTo: 7) }
        for _ in 0..<references.reduce(0, +) {
            if try reader.flag() { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
            if hasChroma, try reader.flag() { for _ in 0..<4 { _ = try reader.signedExpGolomb() } }
        }
    }

    /// dec_ref_pic_marking (§7.3.3.3).
    private static func passMarking(_ reader: inout BitReader, isIDR: Bool) throws(MediaError) {
        if isIDR { return try reader.skip(2) }
        guard try reader.flag() else { return }
        // Each of 32 fields may be marked twice.
        for _ in 0...66 {
            switch try reader.unsignedExpGolomb(.referenceMarking, upTo: 6) {
            case 0: return
            case 3: for _ in 0..<2 { _ = try reader.unsignedExpGolomb() }
            case 5: break
            default: _ = try reader.unsignedExpGolomb()
            }
        }
        throw .invalid(.referenceMarking, value: 67, offset: reader.offset)
    }
}
