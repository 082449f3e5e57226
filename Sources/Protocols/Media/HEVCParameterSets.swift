/// Video parameter set of H.265 (ITU-T H.265 §7.3.2.1).
public struct HEVCVideoParameterSet: Equatable, Sendable {
    /// 0…15.
    public var id: Int
    public var profile: HEVCProfile
    /// 1…7.
    public var temporalLayers: Int
    public var temporalIDIsNested: Bool
    /// Frames per second; nil when the set does not say.
    public var frameRate: Double?

    /// Parses a whole NAL unit of the base layer, with its two header bytes and with emulation prevention.
    public static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> HEVCVideoParameterSet {
        var reader = BitReader(nalUnit: unit)
        try reader.hevcHeader(type: 32)
        let id = Int(try reader.bits(4))
        try reader.skip(2 + 6)  // base layer flags, vps_max_layers_minus1
        let temporalLayers = try reader.temporalLayers()
        let isNested = try reader.flag()
        try reader.skip(16)  // vps_reserved_0xffff_16bits
        let profile = try HEVCProfile.parse(&reader, temporalLayers: temporalLayers)
        try reader.passSubLayerOrdering(temporalLayers: temporalLayers)
        let maximumLayerID = Int(try reader.bits(6))
        let layerSets = try reader.unsignedExpGolomb(.layerSets, upTo: 1023)
        try reader.skip(layerSets * (maximumLayerID + 1))
        let frameRate = try reader.flag() ? try reader.hevcTiming() : nil
        return HEVCVideoParameterSet(
            id: id, profile: profile, temporalLayers: temporalLayers, temporalIDIsNested: isNested,
            frameRate: frameRate)
    }
}

/// The two ids that tie a picture parameter set of H.265 to its sequence (ITU-T H.265 §7.3.2.3.1).
public struct HEVCPictureParameterSet: Equatable, Sendable {
    /// 0…63.
    public var id: Int
    /// 0…15.
    public var sequenceParameterSetID: Int

    /// Parses a whole NAL unit of the base layer, with its two header bytes and with emulation prevention.
    public static func parse(_ unit: ArraySlice<UInt8>) throws(MediaError) -> HEVCPictureParameterSet {
        // Two codes of at most 13 bits stand at the front.
        var reader = BitReader(nalUnit: unit.prefix(16))
        try reader.hevcHeader(type: 34)
        let id = try reader.unsignedExpGolomb(.pictureParameterSetID, upTo: 63)
        let sequence = try reader.unsignedExpGolomb(.sequenceParameterSetID, upTo: 15)
        return HEVCPictureParameterSet(id: id, sequenceParameterSetID: sequence)
    }
}

extension BitReader {
    /// nal_unit_header (§7.3.1.2). Sets of higher layers have another syntax and are refused.
    mutating func hevcHeader(type expected: UInt32) throws(MediaError) {
        guard try bits(1) == 0 else { throw .invalid(.forbiddenZeroBit, value: 1, offset: offset) }
        let type = try bits(6)
        guard type == expected else { throw .invalid(.nalUnitType, value: UInt64(type), offset: offset) }
        let layer = try bits(6)
        guard layer == 0 else { throw .invalid(.nuhLayerID, value: UInt64(layer), offset: offset) }
        try skip(3)
    }

    /// vps_ or sps_max_sub_layers_minus1, plus one.
    mutating func temporalLayers() throws(MediaError) -> Int {
        let value = try bits(3)
        guard value <= 6 else { throw .invalid(.temporalLayers, value: UInt64(value) + 1, offset: offset) }
        return Int(value) + 1
    }

    /// The ordering information of each temporal layer, or of the highest alone.
    mutating func passSubLayerOrdering(temporalLayers: Int) throws(MediaError) {
        for _ in 0..<(try flag() ? temporalLayers : 1) {
            for _ in 0..<3 { _ = try unsignedExpGolomb() }
        }
    }

    /// num_units_in_tick and time_scale: a tick is a picture (§E.3.1), unlike in H.264.
    mutating func hevcTiming() throws(MediaError) -> Double? {
        let unitsInTick = try bits(32)
        let timeScale = try bits(32)
        guard unitsInTick > 0, timeScale > 0 else { return nil }
        return Double(timeScale) / Double(unitsInTick)
    }
}
