/// How long a slice segment header of H.265 is (ITU-T H.265 §7.3.6.1). Nothing else of it is kept.
enum HEVCSliceHeader {
    private enum Kind {
        case bipredicted, predicted, intra

        /// Lists of reference pictures that it has.
        var lists: Int {
            switch self {
            case .bipredicted: 2
            case .predicted: 1
            case .intra: 0
            }
        }
    }

    /// general_profile_idc of profiles for several views, several layers, depth and screen content: other syntax.
    private static let otherProfiles: ClosedRange<UInt8> = 6...11

    /// - Parameters:
    ///   - unit: a slice segment of the base layer, nal_unit_type 0…9 or 16…21, or its beginning.
    ///   - sets: the parameter sets, by the ID of the picture's.
    /// - Returns: bits of the RBSP from its first one up to slice_segment_data, with byte_alignment().
    static func end(
        of unit: ArraySlice<UInt8>, sets: (Int) -> (sequence: HEVCSequenceSyntax, picture: HEVCPictureSyntax)?
    ) throws(MediaError) -> Int {
        var reader = BitReader(nalUnit: unit)
        guard try !reader.flag() else { throw .invalid(.forbiddenZeroBit, value: 1, offset: reader.offset) }
        let type = try reader.bits(6)
        guard type <= 9 || (16...21).contains(type) else {
            throw .invalid(.nalUnitType, value: UInt64(type), offset: reader.offset)
        }
        let layer = try reader.bits(6)
        guard layer == 0 else { throw .invalid(.nuhLayerID, value: UInt64(layer), offset: reader.offset) }
        try reader.skip(3)
        let isFirst = try reader.flag()
        if type >= 16 { try reader.skip(1) }  // no_output_of_prior_pics_flag
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 63)
        guard let (sequence, picture) = sets(id) else { throw .missing(.pictureParameterSet) }
        guard !otherProfiles.contains(sequence.profile) else {
            throw .invalid(.profile, value: UInt64(sequence.profile), offset: 0)
        }
        var isDependent = false
        if !isFirst {
            if picture.hasDependentSegments { isDependent = try reader.flag() }
            try reader.skip(BitReader.bitsToCount(sequence.blocks))  // slice_segment_address
        }
        if !isDependent {
            try passIndependent(&reader, sequence, picture, isIDR: type == 19 || type == 20)
        }
        if picture.hasEntryPoints {
            // With tiles and wavefronts: 20 columns, and 2111 rows of blocks at most.
            let count = try reader.unsignedExpGolomb(.entryPoints, upTo: 20 * 2111)
            if count > 0 {
                let bits = try reader.unsignedExpGolomb(.entryPoints, upTo: 31) + 1
                try reader.skip(count * bits)
            }
        }
        if picture.hasHeaderExtension {
            try reader.skip(8 * (try reader.unsignedExpGolomb(.headerExtension, upTo: 256)))
        }
        return try alignedEnd(&reader)
    }

    /// byte_alignment(): a one, and zeros. Where it is something else, what was read before was not what was written.
    private static func alignedEnd(_ reader: inout BitReader) throws(MediaError) -> Int {
        let count = 8 - reader.offset % 8
        let bits = try reader.bits(count)
        guard bits == 1 << UInt32(count - 1) else {
            throw .invalid(.alignment, value: UInt64(bits), offset: reader.offset)
        }
        return reader.offset
    }

    private static func passIndependent(
        _ reader: inout BitReader, _ sequence: HEVCSequenceSyntax, _ picture: HEVCPictureSyntax, isIDR: Bool
    ) throws(MediaError) {
        try reader.skip(picture.extraBits)
        let kind: Kind
        switch try reader.unsignedExpGolomb(.sliceType, upTo: 2) {
        case 0: kind = .bipredicted
        case 1: kind = .predicted
        default: kind = .intra
        }
        if picture.hasOutputFlag { try reader.skip(1) }
        if sequence.hasSeparatePlanes { try reader.skip(2) }
        var pictures = 0
        var predictsMotionInTime = false
        if !isIDR {
            try reader.skip(sequence.orderCountBits)
            pictures = try usedPictures(&reader, sequence)
            if sequence.predictsMotionInTime { predictsMotionInTime = try reader.flag() }
        }
        let hasChroma = sequence.chromaArrayType != 0
        var hasSampleAdaptiveOffset = false
        if sequence.hasSampleAdaptiveOffset {
            for _ in 0..<(hasChroma ? 2 : 1) where try reader.flag() { hasSampleAdaptiveOffset = true }
        }
        if kind != .intra {
            try passPrediction(
                &reader, kind, picture, pictures: pictures, predictsMotionInTime: predictsMotionInTime,
                hasChroma: hasChroma)
        }
        _ = try reader.signedExpGolomb()  // slice_qp_delta
        if picture.hasChromaOffsets { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
        if picture.hasChromaOffsetLists { try reader.skip(1) }  // cu_chroma_qp_offset_enabled_flag
        var isDeblockingDisabled = picture.isDeblockingDisabled
        if picture.overridesDeblocking, try reader.flag() {
            isDeblockingDisabled = try reader.flag()
            if !isDeblockingDisabled { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
        }
        if picture.filtersAcrossSlices, hasSampleAdaptiveOffset || !isDeblockingDisabled { try reader.skip(1) }
    }

    /// The reference picture set of the slice.
    ///
    /// - Returns: NumPicTotalCurr (7-55).
    private static func usedPictures(
        _ reader: inout BitReader, _ sequence: HEVCSequenceSyntax
    ) throws(MediaError) -> Int {
        var used: Int
        if try reader.flag() {
            let index = Int(try reader.bits(BitReader.bitsToCount(sequence.sets.count)))
            guard sequence.sets.indices.contains(index) else {
                throw .invalid(.shortTermReferencePictures, value: UInt64(index), offset: reader.offset)
            }
            used = sequence.sets[index].usedCount
        } else {
            used = try HEVCReferencePictureSet.parse(&reader, behind: sequence.sets, isInSlice: true).usedCount
        }
        guard let known = sequence.longTermIsUsed else { return used }
        let knownCount = known.isEmpty ? 0 : try reader.unsignedExpGolomb(.longTermReferencePictures, upTo: 32)
        let count = knownCount + (try reader.unsignedExpGolomb(.longTermReferencePictures, upTo: 32))
        for picture in 0..<count {
            if picture < knownCount {
                let index = Int(try reader.bits(BitReader.bitsToCount(known.count)))
                guard known.indices.contains(index) else {
                    throw .invalid(.longTermReferencePictures, value: UInt64(index), offset: reader.offset)
                }
                if known[index] { used += 1 }
            } else {
                try reader.skip(sequence.orderCountBits)
                if try reader.flag() { used += 1 }
            }
            if try reader.flag() { _ = try reader.unsignedExpGolomb() }  // delta_poc_msb_cycle_lt
        }
        return used
    }

    private static func passPrediction(
        _ reader: inout BitReader, _ kind: Kind, _ picture: HEVCPictureSyntax, pictures: Int,
        predictsMotionInTime: Bool, hasChroma: Bool
    ) throws(MediaError) {
        var references = Array(picture.defaultReferences.prefix(kind.lists))
        if try reader.flag() {
            for list in references.indices {
                references[list] = try reader.unsignedExpGolomb(.activeReferences, upTo: 14) + 1
            }
        }
        if picture.modifiesLists, pictures > 1 {
            for count in references where try reader.flag() {
                try reader.skip(count * BitReader.bitsToCount(pictures))
            }
        }
        if kind == .bipredicted { try reader.skip(1) }  // mvd_l1_zero_flag
        if picture.hasCABACInit { try reader.skip(1) }
        if predictsMotionInTime {
            var list = 0
            if kind == .bipredicted, try !reader.flag() { list = 1 }  // collocated_from_l0_flag
            if references[list] > 1 { _ = try reader.unsignedExpGolomb() }  // collocated_ref_idx
        }
        if kind == .bipredicted ? picture.weightsB : picture.weightsP {
            try passWeights(&reader, references, hasChroma: hasChroma)
        }
        _ = try reader.unsignedExpGolomb()  // five_minus_max_num_merge_cand
    }

    /// pred_weight_table (§7.3.6.3), of pictures of the same layer and another time, as all are here.
    private static func passWeights(
        _ reader: inout BitReader, _ references: [Int], hasChroma: Bool
    ) throws(MediaError) {
        _ = try reader.unsignedExpGolomb(.predictionWeights, upTo: 7)
        if hasChroma { _ = try reader.signedExpGolomb() }
        for count in references {
            var hasLuma: [Bool] = []
            for _ in 0..<count { hasLuma.append(try reader.flag()) }
            var hasColours = [Bool](repeating: false, count: count)
            if hasChroma { for index in 0..<count { hasColours[index] = try reader.flag() } }
            for index in 0..<count {
                if hasLuma[index] { for _ in 0..<2 { _ = try reader.signedExpGolomb() } }
                if hasColours[index] { for _ in 0..<4 { _ = try reader.signedExpGolomb() } }
            }
        }
    }
}
