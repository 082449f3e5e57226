/// What a NAL unit is for, whichever codec it belongs to (ITU-T H.264 table 7-1, H.265 table 7-1).
public enum NALUnitKind: Equatable, Sendable {
    /// A slice of a picture that a decoder can begin with: IDR, or any IRAP picture for HEVC.
    case keyPicture
    /// A slice of any other picture.
    case picture
    /// HEVC only.
    case videoParameterSet
    case sequenceParameterSet
    case pictureParameterSet
    case supplementalInformation
    case accessUnitDelimiter
    case filler
    case other

    public var isParameterSet: Bool {
        switch self {
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet: true
        case .keyPicture, .picture, .supplementalInformation, .accessUnitDelimiter, .filler, .other: false
        }
    }

    public var isPicture: Bool { self == .keyPicture || self == .picture }
}

extension VideoCodec {
    /// nal_unit_type; nil for an empty unit.
    public func nalUnitType(of unit: ArraySlice<UInt8>) -> UInt8? {
        guard let first = unit.first else { return nil }
        switch self {
        case .h264: return first & 0x1F
        case .hevc: return first >> 1 & 0x3F
        }
    }

    public func kind(ofNALUnit unit: ArraySlice<UInt8>) -> NALUnitKind {
        unit.first.map(kind(ofHeader:)) ?? .other
    }

    /// - Parameter header: the unit's first byte.
    public func kind(ofHeader header: UInt8) -> NALUnitKind {
        switch self {
        case .h264:
            switch header & 0x1F {
            case 1...4: .picture
            case 5: .keyPicture
            case 6: .supplementalInformation
            case 7: .sequenceParameterSet
            case 8: .pictureParameterSet
            case 9: .accessUnitDelimiter
            case 12: .filler
            default: .other
            }
        case .hevc:
            switch header >> 1 & 0x3F {
            case 0...15: .picture
            case 16...23: .keyPicture
            case 32: .videoParameterSet
            case 33: .sequenceParameterSet
            case 34: .pictureParameterSet
            case 35: .accessUnitDelimiter
            case 38: .filler
            case 39, 40: .supplementalInformation
            default: .other
            }
        }
    }

    /// Whether a decoder can begin with this access unit: its first slice decides.
    ///
    /// - Parameter accessUnit: NAL units behind 4-byte lengths.
    public func isKeyFrame(_ accessUnit: ArraySlice<UInt8>) throws(MediaError) -> Bool {
        var units = LengthPrefixedUnits(accessUnit)
        while let unit = try units.next() {
            switch kind(ofNALUnit: unit) {
            case .keyPicture: return true
            case .picture: return false
            case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .supplementalInformation,
                .accessUnitDelimiter, .filler, .other:
                continue
            }
        }
        return false
    }
}
