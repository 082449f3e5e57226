public import Wire

/// Why a parameter set, a configuration record or an access unit could not be read.
public enum MediaError: WireFailure, Equatable, Sendable {
    /// A field of whole bytes: the bytes end too soon, or go on after the end.
    case wire(WireError)
    /// A field of `needed` bits begins at bit `offset` of the RBSP (the NAL unit without its emulation prevention
    /// bytes), but only `available` are left there.
    case truncatedBits(offset: Int, needed: Int, available: Int)
    /// A field has a value that its specification does not allow, or that no real stream has. `offset` is that of the
    /// byte in a record, or of the bit in an RBSP, behind the field.
    case invalid(Field, value: UInt64, offset: Int)
    /// A configuration cannot be made: no unit of this kind was given.
    case missing(Field)
    /// An access unit, or a parameter set in a record, is longer than its length field can say.
    case tooLong(bytes: Int, limit: Int)

    /// What was being read, by the names of ITU-T H.264, H.265 and ISO/IEC 14496-3 and -15.
    public enum Field: String, Equatable, Sendable {
        case expGolombCode, forbiddenZeroBit, nalUnitType, nuhLayerID
        case videoParameterSet, sequenceParameterSet, pictureParameterSet
        case videoParameterSetID, sequenceParameterSetID, pictureParameterSetID
        case profile, chromaFormat, bitDepth, scalingListDelta, frameNumberBits, pictureOrderCount, referenceFrames
        case frameWidth, frameHeight, croppingWindow, temporalLayers, layerSets, codingBlockSize
        case shortTermReferencePictures, longTermReferencePictures
        case sliceType, sliceGroups, activeReferences, referenceListModification, predictionWeights
        case referenceMarking, tiles, entryPoints, headerExtension, alignment
        case configurationVersion, nalUnitLengthSize, nalUnitLength
        case audioObjectType, samplingFrequency, channelConfiguration
    }
}

extension MediaError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .wire(let error): "\(error)"
        case .truncatedBits(let offset, let needed, let available):
            "truncated at bit \(offset): \(needed) bits needed, \(available) left"
        case .invalid(let field, let value, let offset): "\(field.rawValue) is \(value) at \(offset)"
        case .missing(let field): "no \(field.rawValue)"
        case .tooLong(let bytes, let limit): "\(bytes) bytes, where \(limit) are possible"
        }
    }
}
