/// profile_tier_level of the whole sequence (ITU-T H.265 §7.3.3), as a configuration record repeats it.
public struct HEVCProfile: Equatable, Sendable {
    /// general_profile_space, 0…3.
    public var space: UInt8
    /// general_tier_flag: false main tier, true high tier.
    public var isHighTier: Bool
    /// general_profile_idc, 0…31: 1 Main, 2 Main 10, 3 Main Still Picture.
    public var profile: UInt8
    /// The 32 general_profile_compatibility_flags, flag 0 in the highest bit.
    public var compatibility: UInt32
    /// The 48 bits from general_progressive_source_flag on.
    public var constraints: UInt64
    /// general_level_idc: thirty times the level (93 is level 3.1).
    public var level: UInt8

    static func parse(_ reader: inout BitReader, temporalLayers: Int) throws(MediaError) -> HEVCProfile {
        let profile = HEVCProfile(
            space: UInt8(try reader.bits(2)), isHighTier: try reader.flag(), profile: UInt8(try reader.bits(5)),
            compatibility: try reader.bits(32),
            constraints: UInt64(try reader.bits(32)) << 16 | UInt64(try reader.bits(16)),
            level: UInt8(try reader.bits(8)))
        guard temporalLayers > 1 else { return profile }
        var bits = 0
        for _ in 0..<(temporalLayers - 1) {
            if try reader.flag() { bits += 88 }
            if try reader.flag() { bits += 8 }
        }
        try reader.skip(2 * (9 - temporalLayers) + bits)
        return profile
    }
}
