internal import Wire

/// HEVCDecoderConfigurationRecord, "hvcC" (ISO/IEC 14496-15 §8.3.3.1).
public struct HEVCConfigurationRecord: Equatable, Sendable {
    public struct UnitArray: Equatable, Sendable {
        /// All units of this type are here, none in the stream.
        public var isComplete: Bool
        /// nal_unit_type: 32 video, 33 sequence, 34 picture parameter sets; 39 and 40 supplemental information.
        public var nalUnitType: UInt8
        /// Whole NAL units.
        public var units: [[UInt8]]
    }

    public var profile: HEVCProfile
    /// min_spatial_segmentation_idc, 0…4095; 0 says nothing.
    public var minimumSpatialSegmentation: UInt16
    /// parallelismType, 0…3; 0 says nothing.
    public var parallelism: UInt8
    public var chromaFormat: Int
    public var lumaBitDepth: Int
    public var chromaBitDepth: Int
    /// Frames in 256 seconds; 0 says nothing.
    public var averageFrameRate: UInt16
    /// 0…3; 0 says nothing.
    public var constantFrameRate: UInt8
    /// 0…7; 0 says nothing.
    public var temporalLayers: Int
    public var temporalIDIsNested: Bool
    /// Bytes of the length before each NAL unit, 1…4 (3 is not legal, but it is read).
    public var nalUnitLengthSize: Int
    public var arrays: [UnitArray]

    /// A record with 4-byte lengths from parameter sets; profile and format are those of the first sequence.
    ///
    /// - Parameter isComplete: the sets are not in the stream as well ("hvc1").
    public init(
        videoParameterSets: [[UInt8]], sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]],
        isComplete: Bool = true
    ) throws(MediaError) {
        guard !videoParameterSets.isEmpty else { throw .missing(.videoParameterSet) }
        guard let first = sequenceParameterSets.first else { throw .missing(.sequenceParameterSet) }
        guard !pictureParameterSets.isEmpty else { throw .missing(.pictureParameterSet) }
        let sequence = try HEVCSequenceParameterSet.parse(first[...])
        self.init(
            profile: sequence.profile, minimumSpatialSegmentation: 0, parallelism: 0,
            chromaFormat: sequence.chromaFormat, lumaBitDepth: sequence.lumaBitDepth,
            chromaBitDepth: sequence.chromaBitDepth, averageFrameRate: 0, constantFrameRate: 0,
            temporalLayers: sequence.temporalLayers, temporalIDIsNested: sequence.temporalIDIsNested,
            nalUnitLengthSize: 4,
            arrays: [
                UnitArray(isComplete: isComplete, nalUnitType: 32, units: videoParameterSets),
                UnitArray(isComplete: isComplete, nalUnitType: 33, units: sequenceParameterSets),
                UnitArray(isComplete: isComplete, nalUnitType: 34, units: pictureParameterSets),
            ])
    }

    private init(
        profile: HEVCProfile, minimumSpatialSegmentation: UInt16, parallelism: UInt8, chromaFormat: Int,
        lumaBitDepth: Int, chromaBitDepth: Int, averageFrameRate: UInt16, constantFrameRate: UInt8,
        temporalLayers: Int, temporalIDIsNested: Bool, nalUnitLengthSize: Int, arrays: [UnitArray]
    ) {
        self.profile = profile
        self.minimumSpatialSegmentation = minimumSpatialSegmentation
        self.parallelism = parallelism
        self.chromaFormat = chromaFormat
        self.lumaBitDepth = lumaBitDepth
        self.chromaBitDepth = chromaBitDepth
        self.averageFrameRate = averageFrameRate
        self.constantFrameRate = constantFrameRate
        self.temporalLayers = temporalLayers
        self.temporalIDIsNested = temporalIDIsNested
        self.nalUnitLengthSize = nalUnitLengthSize
        self.arrays = arrays
    }

    /// The units of one type, from every array of it.
    public func units(ofType nalUnitType: UInt8) -> [[UInt8]] {
        arrays.filter { $0.nalUnitType == nalUnitType }.flatMap(\.units)
    }

    public var videoParameterSets: [[UInt8]] { units(ofType: 32) }
    public var sequenceParameterSets: [[UInt8]] { units(ofType: 33) }
    public var pictureParameterSets: [[UInt8]] { units(ofType: 34) }
}

extension HEVCConfigurationRecord {
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> HEVCConfigurationRecord {
        var reader = FieldReader<MediaError>(bytes)
        let version = try reader.readUInt8()
        // 0 was written before the standard was final, with the same fields.
        guard version <= 1 else { throw .invalid(.configurationVersion, value: UInt64(version), offset: 0) }
        let first = try reader.readUInt8()
        let compatibility = try reader.readUInt32()
        let constraints = UInt64(try reader.readUInt32()) << 16 | UInt64(try reader.readUInt16())
        let profile = HEVCProfile(
            space: first >> 6, isHighTier: first & 0x20 != 0, profile: first & 0x1F, compatibility: compatibility,
            constraints: constraints, level: try reader.readUInt8())
        let segmentation = try reader.readUInt16() & 0x0FFF
        let parallelism = try reader.readUInt8() & 3
        let chromaFormat = Int(try reader.readUInt8() & 3)
        let lumaBitDepth = Int(try reader.readUInt8() & 7) + 8
        let chromaBitDepth = Int(try reader.readUInt8() & 7) + 8
        let averageFrameRate = try reader.readUInt16()
        let flags = try reader.readUInt8()
        var arrays: [UnitArray] = []
        for _ in 0..<(try reader.readUInt8()) {
            let head = try reader.readUInt8()
            let count = Int(try reader.readUInt16())
            arrays.append(
                UnitArray(isComplete: head & 0x80 != 0, nalUnitType: head & 0x3F, units: try reader.units(count: count))
            )
        }
        return HEVCConfigurationRecord(
            profile: profile, minimumSpatialSegmentation: segmentation, parallelism: parallelism,
            chromaFormat: chromaFormat, lumaBitDepth: lumaBitDepth, chromaBitDepth: chromaBitDepth,
            averageFrameRate: averageFrameRate, constantFrameRate: flags >> 6, temporalLayers: Int(flags >> 3 & 7),
            temporalIDIsNested: flags & 4 != 0, nalUnitLengthSize: Int(flags & 3) + 1, arrays: arrays)
    }

    /// Throws when there are more units than a count can say, or when one is longer than 65 535 bytes.
    public func encoded() throws(MediaError) -> [UInt8] {
        guard arrays.count <= 255 else { throw .tooLong(bytes: arrays.count, limit: 255) }
        var bytes: [UInt8] = [1, profile.space << 6 | (profile.isHighTier ? 0x20 : 0) | profile.profile & 0x1F]
        bytes.appendUInt32(profile.compatibility)
        bytes.appendUInt32(UInt32(truncatingIfNeeded: profile.constraints >> 16))
        bytes.appendUInt16(UInt16(truncatingIfNeeded: profile.constraints))
        bytes.append(profile.level)
        bytes.appendUInt16(0xF000 | minimumSpatialSegmentation)
        bytes.append(0xFC | parallelism)
        bytes.append(0xFC | UInt8(truncatingIfNeeded: chromaFormat))
        bytes.append(0xF8 | UInt8(truncatingIfNeeded: lumaBitDepth - 8))
        bytes.append(0xF8 | UInt8(truncatingIfNeeded: chromaBitDepth - 8))
        bytes.appendUInt16(averageFrameRate)
        bytes.append(
            constantFrameRate << 6 | UInt8(truncatingIfNeeded: temporalLayers & 7) << 3
                | (temporalIDIsNested ? 4 : 0) | UInt8(truncatingIfNeeded: nalUnitLengthSize - 1) & 3)
        bytes.append(UInt8(arrays.count))
        for array in arrays {
            guard array.units.count <= 0xFFFF else { throw .tooLong(bytes: array.units.count, limit: 0xFFFF) }
            bytes.append((array.isComplete ? 0x80 : 0) | array.nalUnitType & 0x3F)
            bytes.appendUInt16(UInt16(array.units.count))
            for unit in array.units { try bytes.append(unit: unit) }
        }
        return bytes
    }
}
