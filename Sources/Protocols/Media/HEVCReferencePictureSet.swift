/// st_ref_pic_set of H.265, with what is derived of it (ITU-T H.265 §7.3.7, §7.4.8): another set may be predicted from it, and the
/// count of its pictures is then not that of its flags.
struct HEVCReferencePictureSet: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        /// DeltaPocS0 or S1: how many pictures it is before or behind this one, in order of output.
        var distance: Int
        /// used_by_curr_pic_s0_flag or s1.
        var isUsed: Bool
    }

    /// The nearest first.
    var before: [Entry] = []
    var behind: [Entry] = []

    /// NumDeltaPocs.
    var count: Int { before.count + behind.count }
    var usedCount: Int { (before + behind).count(where: \.isUsed) }

    /// - Parameter sets: those that stand before it, all of them in a slice header.
    static func parse(
        _ reader: inout BitReader, behind sets: [HEVCReferencePictureSet], isInSlice: Bool
    ) throws(MediaError) -> HEVCReferencePictureSet {
        let set: HEVCReferencePictureSet
        if !sets.isEmpty, try reader.flag() {
            var back = 1
            if isInSlice {
                back += try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: UInt32(sets.count - 1))
            }
            set = try predicted(&reader, from: sets[sets.count - back])
        } else {
            set = try explicit(&reader)
        }
        // sps_max_dec_pic_buffering is at most 16 (§A.4.2).
        guard set.count <= 16 else {
            throw .invalid(.shortTermReferencePictures, value: UInt64(set.count), offset: reader.offset)
        }
        return set
    }

    private static func explicit(_ reader: inout BitReader) throws(MediaError) -> HEVCReferencePictureSet {
        var set = HEVCReferencePictureSet()
        let counts = [
            try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 16),
            try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 16),
        ]
        for (side, count) in counts.enumerated() {
            var distance = 0
            for _ in 0..<count {
                distance += try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 0x7FFF) + 1
                let isUsed = try reader.flag()
                if side == 0 {
                    set.before.append(Entry(distance: -distance, isUsed: isUsed))
                } else {
                    set.behind.append(Entry(distance: distance, isUsed: isUsed))
                }
            }
        }
        return set
    }

    /// Equations 7-61 and 7-62.
    private static func predicted(
        _ reader: inout BitReader, from reference: HEVCReferencePictureSet
    ) throws(MediaError) -> HEVCReferencePictureSet {
        let isNegative = try reader.flag()
        let size = try reader.unsignedExpGolomb(.shortTermReferencePictures, upTo: 0x7FFF) + 1
        let shift = isNegative ? -size : size
        /// In the order of their flags: those of the reference, and its picture itself. Nil: use_delta_flag is not set.
        var candidates: [Entry?] = []
        for distance in (reference.before + reference.behind).map(\.distance) + [0] {
            let isUsed = try reader.flag()
            let isKept = isUsed ? true : try reader.flag()
            candidates.append(isKept ? Entry(distance: distance + shift, isUsed: isUsed) : nil)
        }
        let own = candidates.removeLast()
        let nearBefore = candidates.prefix(reference.before.count)
        let nearBehind = candidates.suffix(reference.behind.count)
        var set = HEVCReferencePictureSet()
        set.before = (nearBehind.reversed() + [own] + nearBefore).compactMap { $0 }.filter { $0.distance < 0 }
        set.behind = (nearBefore.reversed() + [own] + nearBehind).compactMap { $0 }.filter { $0.distance > 0 }
        return set
    }
}
