/// Where the headers of slices end: the parameter sets that they depend on, the newest of each ID.
///
/// For who may change or encrypt what is coded in a slice, and nothing that says how.
public struct SliceHeaders: Sendable {
    public let codec: VideoCodec
    private var avcSequences: [Int: AVCSequenceSyntax] = [:]
    private var avcPictures: [Int: AVCPictureSyntax] = [:]
    private var hevcSequences: [Int: HEVCSequenceSyntax] = [:]
    private var hevcPictures: [Int: HEVCPictureSyntax] = [:]

    /// Bytes of a unit that are looked at first: nearly all headers end there.
    private static let usualLength = 256
    /// Bytes of a unit that may be header: of H.265 with 42 220 entry points of 32 bits, a list that no real stream has.
    private static let maxLength = 192 << 10

    public init(codec: VideoCodec) {
        self.codec = codec
    }

    /// With the sets of a configuration record, "avcC" or "hvcC".
    public init(codec: VideoCodec, configurationRecord: ArraySlice<UInt8>) throws(MediaError) {
        self.init(codec: codec)
        let units: [[UInt8]]
        switch codec {
        case .h264:
            let record = try AVCConfigurationRecord.parse(configurationRecord)
            units = record.sequenceParameterSets + record.pictureParameterSets
        case .hevc:
            let record = try HEVCConfigurationRecord.parse(configurationRecord)
            units = record.sequenceParameterSets + record.pictureParameterSets
        }
        for unit in units { try insert(unit[...]) }
    }

    /// Keeps a unit when it is a set that slice headers depend on, and passes over all others.
    public mutating func insert(_ unit: ArraySlice<UInt8>) throws(MediaError) {
        switch (codec, codec.kind(ofNALUnit: unit)) {
        case (.h264, .sequenceParameterSet):
            let syntax = try AVCSequenceParameterSet.read(unit).syntax
            avcSequences[syntax.id] = syntax
        case (.h264, .pictureParameterSet):
            let syntax = try AVCPictureSyntax.parse(unit)
            avcPictures[syntax.id] = syntax
        case (.hevc, .sequenceParameterSet):
            let syntax = try HEVCSequenceParameterSet.read(unit).syntax
            hevcSequences[syntax.id] = syntax
        case (.hevc, .pictureParameterSet):
            let syntax = try HEVCPictureSyntax.parse(unit)
            hevcPictures[syntax.id] = syntax
        default: break
        }
    }

    /// How many bytes of a slice are header: from the first byte of the NAL unit up to the first one that holds nothing but slice data, emulation
    /// prevention bytes counted.
    ///
    /// - Parameter unit: a whole coded slice: of H.264 nal_unit_type 1 or 5, of H.265 0…9 or 16…21 of the base layer.
    public func length(ofHeaderIn unit: ArraySlice<UInt8>) throws(MediaError) -> Int {
        let bits = try end(of: unit)
        return Self.length(of: (bits + 7) / 8, in: unit)
    }

    /// Bits of the RBSP before slice data.
    func end(of unit: ArraySlice<UInt8>) throws(MediaError) -> Int {
        do throws(MediaError) {
            return try end(ofBeginning: unit.prefix(Self.usualLength))
        } catch {
            guard case .truncatedBits = error, unit.count > Self.usualLength else { throw error }
            return try end(ofBeginning: unit.prefix(Self.maxLength))
        }
    }

    private func end(ofBeginning unit: ArraySlice<UInt8>) throws(MediaError) -> Int {
        switch codec {
        case .h264:
            try AVCSliceHeader.end(of: unit) { id in
                guard let picture = avcPictures[id], let sequence = avcSequences[picture.sequenceID] else { return nil }
                return (sequence, picture)
            }
        case .hevc:
            try HEVCSliceHeader.end(of: unit) { id in
                guard let picture = hevcPictures[id], let sequence = hevcSequences[picture.sequenceID] else {
                    return nil
                }
                return (sequence, picture)
            }
        }
    }

    /// Bytes of a unit that hold the first `count` bytes of its RBSP.
    private static func length(of count: Int, in unit: ArraySlice<UInt8>) -> Int {
        var left = count
        var zeros = 0
        var length = 0
        for byte in unit {
            if left == 0 { break }
            length += 1
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            left -= 1
        }
        return length
    }
}
