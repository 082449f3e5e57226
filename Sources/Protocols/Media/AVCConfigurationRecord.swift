internal import Wire

/// AVCDecoderConfigurationRecord, "avcC" (ISO/IEC 14496-15 §5.3.3.1).
public struct AVCConfigurationRecord: Equatable, Sendable {
    /// profile_idc, constraint flags and level_idc of the sequence.
    public var profile: UInt8
    public var constraints: UInt8
    public var level: UInt8
    /// Bytes of the length before each NAL unit, 1…4 (3 is not legal, but it is read).
    public var nalUnitLengthSize: Int
    /// Whole NAL units.
    public var sequenceParameterSets: [[UInt8]]
    public var pictureParameterSets: [[UInt8]]

    /// A record with 4-byte lengths from parameter sets; profile and level are those of the first sequence.
    public init(sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]]) throws(MediaError) {
        guard let first = sequenceParameterSets.first else { throw .missing(.sequenceParameterSet) }
        guard !pictureParameterSets.isEmpty else { throw .missing(.pictureParameterSet) }
        let sequence = try AVCSequenceParameterSet.parse(first[...])
        profile = sequence.profile
        constraints = sequence.constraints
        level = sequence.level
        nalUnitLengthSize = 4
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
    }

    private init(
        profile: UInt8, constraints: UInt8, level: UInt8, nalUnitLengthSize: Int, sequenceParameterSets: [[UInt8]],
        pictureParameterSets: [[UInt8]]
    ) {
        self.profile = profile
        self.constraints = constraints
        self.level = level
        self.nalUnitLengthSize = nalUnitLengthSize
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
    }

    /// What stands behind the picture parameter sets (chroma format and bit depth again, for High profiles) is left
    /// unread: many writers omit it, and the sequence parameter set says it.
    public static func parse(_ bytes: ArraySlice<UInt8>) throws(MediaError) -> AVCConfigurationRecord {
        var reader = FieldReader<MediaError>(bytes)
        let version = try reader.readUInt8()
        guard version == 1 else { throw .invalid(.configurationVersion, value: UInt64(version), offset: 0) }
        let profile = try reader.readUInt8()
        let constraints = try reader.readUInt8()
        let level = try reader.readUInt8()
        let lengthSize = Int(try reader.readUInt8() & 3) + 1
        let sequences = try reader.units(count: Int(try reader.readUInt8() & 0x1F))
        let pictures = try reader.units(count: Int(try reader.readUInt8()))
        return AVCConfigurationRecord(
            profile: profile, constraints: constraints, level: level, nalUnitLengthSize: lengthSize,
            sequenceParameterSets: sequences, pictureParameterSets: pictures)
    }

    /// Throws when there are more sets than the counts can say, or when a set is longer than 65 535 bytes.
    public func encoded() throws(MediaError) -> [UInt8] {
        guard sequenceParameterSets.count <= 31 else {
            throw .tooLong(bytes: sequenceParameterSets.count, limit: 31)
        }
        guard pictureParameterSets.count <= 255 else {
            throw .tooLong(bytes: pictureParameterSets.count, limit: 255)
        }
        var bytes: [UInt8] = [
            1, profile, constraints, level, 0xFC | UInt8(truncatingIfNeeded: nalUnitLengthSize - 1) & 3,
        ]
        bytes.append(0xE0 | UInt8(sequenceParameterSets.count))
        for unit in sequenceParameterSets { try bytes.append(unit: unit) }
        bytes.append(UInt8(pictureParameterSets.count))
        for unit in pictureParameterSets { try bytes.append(unit: unit) }
        // All profiles but Baseline, Main and Extended, as FFmpeg does it; the text names 100, 110, 122 and 144 only.
        if ![66, 77, 88].contains(profile), let first = sequenceParameterSets.first {
            let sequence = try AVCSequenceParameterSet.parse(first[...])
            bytes.append(0xFC | UInt8(sequence.chromaFormat))
            bytes.append(0xF8 | UInt8(sequence.lumaBitDepth - 8))
            bytes.append(0xF8 | UInt8(sequence.chromaBitDepth - 8))
            bytes.append(0)  // no SPS extensions
        }
        return bytes
    }
}

extension FieldReader<MediaError> {
    /// NAL units behind two-byte lengths.
    mutating func units(count: Int) throws(MediaError) -> [[UInt8]] {
        var units: [[UInt8]] = []
        for _ in 0..<count {
            let length = Int(try readUInt16())
            units.append(Array(try readBytes(length)))
        }
        return units
    }
}

extension [UInt8] {
    /// A NAL unit behind its two-byte length.
    mutating func append(unit: [UInt8]) throws(MediaError) {
        guard unit.count <= 0xFFFF else { throw .tooLong(bytes: unit.count, limit: 0xFFFF) }
        appendUInt16(UInt16(unit.count))
        self += unit
    }
}
