import TestSupport

@testable import Media

/// Writes HEVC parameter sets with random choices of every optional field (ITU-T H.265 §7.3.2), for the tests.
enum HEVCSequenceBuilder {
    static func random(_ random: inout SeededGenerator) -> ([UInt8], HEVCSequenceParameterSet) {
        func coin() -> Bool { Bool.random(using: &random) }
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var writer = BitWriter()
        writer.bits(0x4201, 16)
        var set = HEVCSequenceParameterSet(
            id: pick(0...15), videoParameterSetID: pick(0...15), profile: profile(&random), temporalLayers: pick(1...7),
            temporalIDIsNested: coin(), chromaFormat: pick(0...3), lumaBitDepth: pick(8...16),
            chromaBitDepth: pick(8...16), width: pick(64...16888), height: pick(64...16888))
        writer.bits(UInt32(set.videoParameterSetID), 4)
        writer.bits(UInt32(set.temporalLayers - 1), 3)
        writer.flag(set.temporalIDIsNested)
        write(set.profile, temporalLayers: set.temporalLayers, &writer, &random)
        writer.unsignedExpGolomb(set.id)
        writer.unsignedExpGolomb(set.chromaFormat)
        var separate = false
        if set.chromaFormat == 3 {
            separate = coin()
            writer.flag(separate)
        }
        writer.unsignedExpGolomb(set.width)
        writer.unsignedExpGolomb(set.height)
        let hasWindow = coin()
        writer.flag(hasWindow)
        if hasWindow {
            let crop = (0..<4).map { _ in pick(0...9) }
            for offset in crop { writer.unsignedExpGolomb(offset) }
            let format = separate ? 0 : set.chromaFormat
            set.width -= (crop[0] + crop[1]) * [1, 2, 2, 1][format]
            set.height -= (crop[2] + crop[3]) * [1, 2, 1, 1][format]
        }
        writer.unsignedExpGolomb(set.lumaBitDepth - 8)
        writer.unsignedExpGolomb(set.chromaBitDepth - 8)
        let orderCountBits = pick(4...16)
        writer.unsignedExpGolomb(orderCountBits - 4)
        writeOrdering(temporalLayers: set.temporalLayers, &writer, &random)
        for _ in 0..<4 { writer.unsignedExpGolomb(pick(0...3)) }
        for _ in 0..<2 { writer.unsignedExpGolomb(pick(0...4)) }
        writeScalingLists(&writer, &random)
        writer.bits(UInt32(pick(0...3)), 2)
        let hasPCM = coin()
        writer.flag(hasPCM)
        if hasPCM {
            writer.bits(0x77, 8)
            writer.unsignedExpGolomb(pick(0...2))
            writer.unsignedExpGolomb(pick(0...2))
            writer.flag(coin())
        }
        writeReferencePictures(orderCountBits: orderCountBits, &writer, &random)
        writer.bits(UInt32(pick(0...3)), 2)
        let hasVUI = coin()
        writer.flag(hasVUI)
        if hasVUI {
            writeVUIUpToChromaLocation(&writer, &random)
            writer.bits(UInt32(pick(0...7)), 3)
            let hasDisplayWindow = coin()
            writer.flag(hasDisplayWindow)
            if hasDisplayWindow { for _ in 0..<4 { writer.unsignedExpGolomb(pick(0...9)) } }
            set.frameRate = writeTiming(&writer, &random)
        }
        return (writer.nalUnit(), set)
    }

    static func randomVideoSet(_ random: inout SeededGenerator) -> ([UInt8], HEVCVideoParameterSet) {
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var writer = BitWriter()
        writer.bits(0x4001, 16)
        var set = HEVCVideoParameterSet(
            id: pick(0...15), profile: profile(&random), temporalLayers: pick(1...7),
            temporalIDIsNested: Bool.random(using: &random))
        writer.bits(UInt32(set.id), 4)
        writer.bits(0b11, 2)
        writer.bits(0, 6)
        writer.bits(UInt32(set.temporalLayers - 1), 3)
        writer.flag(set.temporalIDIsNested)
        writer.bits(0xFFFF, 16)
        write(set.profile, temporalLayers: set.temporalLayers, &writer, &random)
        writeOrdering(temporalLayers: set.temporalLayers, &writer, &random)
        let maximumLayerID = pick(0...62)
        let layerSets = pick(0...5)
        writer.bits(UInt32(maximumLayerID), 6)
        writer.unsignedExpGolomb(layerSets)
        for _ in 0..<(layerSets * (maximumLayerID + 1)) { writer.flag(Bool.random(using: &random)) }
        set.frameRate = writeTiming(&writer, &random)
        return (writer.nalUnit(), set)
    }

    private static func profile(_ random: inout SeededGenerator) -> HEVCProfile {
        HEVCProfile(
            space: UInt8.random(in: 0...3, using: &random), isHighTier: Bool.random(using: &random),
            profile: UInt8.random(in: 0...31, using: &random), compatibility: UInt32(truncatingIfNeeded: random.next()),
            constraints: random.next() >> 16, level: UInt8.random(in: 0...255, using: &random))
    }

    private static func write(
        _ profile: HEVCProfile, temporalLayers: Int, _ writer: inout BitWriter, _ random: inout SeededGenerator
    ) {
        writer.bits(UInt32(profile.space), 2)
        writer.flag(profile.isHighTier)
        writer.bits(UInt32(profile.profile), 5)
        writer.bits(profile.compatibility, 32)
        writer.bits(UInt32(truncatingIfNeeded: profile.constraints >> 16), 32)
        writer.bits(UInt32(truncatingIfNeeded: profile.constraints & 0xFFFF), 16)
        writer.bits(UInt32(profile.level), 8)
        guard temporalLayers > 1 else { return }
        let layers = (1..<temporalLayers).map { _ in (Bool.random(using: &random), Bool.random(using: &random)) }
        for (hasProfile, hasLevel) in layers {
            writer.flag(hasProfile)
            writer.flag(hasLevel)
        }
        for _ in temporalLayers..<9 { writer.bits(0, 2) }
        for (hasProfile, hasLevel) in layers {
            if hasProfile { for _ in 0..<11 { writer.bits(UInt32(random.next() & 255), 8) } }
            if hasLevel { writer.bits(93, 8) }
        }
    }

    private static func writeOrdering(
        temporalLayers: Int, _ writer: inout BitWriter, _ random: inout SeededGenerator
    ) {
        let isEach = Bool.random(using: &random)
        writer.flag(isEach)
        for _ in 0..<(isEach ? temporalLayers : 1) {
            for value in [4, 2, 5] { writer.unsignedExpGolomb(value) }
        }
    }

    private static func writeScalingLists(_ writer: inout BitWriter, _ random: inout SeededGenerator) {
        let isEnabled = Bool.random(using: &random)
        writer.flag(isEnabled)
        guard isEnabled else { return }
        let hasData = Bool.random(using: &random)
        writer.flag(hasData)
        guard hasData else { return }
        for size in 0..<4 {
            for matrix in 0..<6 where size < 3 || matrix % 3 == 0 {
                let isEncoded = Bool.random(using: &random)
                writer.flag(isEncoded)
                if isEncoded {
                    if size > 1 { writer.signedExpGolomb(8) }
                    for _ in 0..<(size == 0 ? 16 : 64) {
                        writer.signedExpGolomb(Int32.random(in: -128...127, using: &random))
                    }
                } else {
                    writer.unsignedExpGolomb(size == 3 ? matrix / 3 : matrix)
                }
            }
        }
    }

    private static func writeReferencePictures(
        orderCountBits: Int, _ writer: inout BitWriter, _ random: inout SeededGenerator
    ) {
        func coin() -> Bool { Bool.random(using: &random) }
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let sets = pick(0...64)
        writer.unsignedExpGolomb(sets)
        // How far each picture of the set before is away: the nearest before it first, then the nearest behind it.
        var distances: [Int] = []
        for set in 0..<sets {
            // A predicted set grows by one picture at most: 16 must hold.
            let isPredicted = set > 0 && distances.count < 16 && coin()
            if set > 0 { writer.flag(isPredicted) }
            var next: [Int] = []
            if isPredicted {
                let isNegative = coin()
                let size = pick(0...9)
                writer.flag(isNegative)
                writer.unsignedExpGolomb(size)
                for distance in distances + [0] {
                    let isUsed = coin()
                    let hasDelta = coin()
                    writer.flag(isUsed)
                    if !isUsed { writer.flag(hasDelta) }
                    if isUsed || hasDelta { next.append(distance + (isNegative ? -1 : 1) * (size + 1)) }
                }
                // What falls onto the picture itself is no reference (7-61, 7-62).
                next.removeAll { $0 == 0 }
            } else {
                let counts = [pick(0...8), pick(0...8)]
                for count in counts { writer.unsignedExpGolomb(count) }
                for (side, count) in counts.enumerated() {
                    var distance = 0
                    for _ in 0..<count {
                        let gap = pick(0...3)
                        writer.unsignedExpGolomb(gap)
                        writer.flag(coin())
                        distance += gap + 1
                        next.append(side == 0 ? -distance : distance)
                    }
                }
            }
            distances = next.filter { $0 < 0 }.sorted(by: >) + next.filter { $0 > 0 }.sorted()
        }
        let hasLongTerm = coin()
        writer.flag(hasLongTerm)
        guard hasLongTerm else { return }
        let longTerm = pick(0...32)
        writer.unsignedExpGolomb(longTerm)
        for _ in 0..<longTerm {
            writer.bits(0, orderCountBits)
            writer.flag(coin())
        }
    }

    private static func writeTiming(_ writer: inout BitWriter, _ random: inout SeededGenerator) -> Double? {
        let hasTiming = Bool.random(using: &random)
        writer.flag(hasTiming)
        guard hasTiming else { return nil }
        let units = UInt32.random(in: 0...3, using: &random)
        let scale = UInt32.random(in: 0...120_000, using: &random)
        writer.bits(units, 32)
        writer.bits(scale, 32)
        return units > 0 && scale > 0 ? Double(scale) / Double(units) : nil
    }
}
