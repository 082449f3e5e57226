/// The parameter sets that a stream has shown, the newest of each id; makes the stream's format of them.
///
/// For sources that find them between pictures: an encoder, RTSP, an Annex B file.
public struct ParameterSets: Equatable, Sendable {
    public let codec: VideoCodec
    /// HEVC only.
    private var video: [Entry] = []
    private var sequence: [Entry] = []
    private var picture: [Entry] = []
    private var isChanged = false

    private struct Entry: Equatable, Sendable {
        var id: Int
        var unit: [UInt8]
    }

    public init(codec: VideoCodec) {
        self.codec = codec
    }

    /// Keeps a unit when it is a parameter set. One that cannot be read, or is longer than a record can hold, throws
    /// and is not kept.
    public mutating func insert(_ unit: ArraySlice<UInt8>) throws(MediaError) {
        let kind = codec.kind(ofNALUnit: unit)
        guard kind.isParameterSet else { return }
        guard unit.count <= 0xFFFF else { throw .tooLong(bytes: unit.count, limit: 0xFFFF) }
        let id = try id(of: unit, kind)
        switch kind {
        case .videoParameterSet: insert(unit, id: id, into: \.video)
        case .sequenceParameterSet: insert(unit, id: id, into: \.sequence)
        case .pictureParameterSet: insert(unit, id: id, into: \.picture)
        case .keyPicture, .picture, .supplementalInformation, .accessUnitDelimiter, .filler, .other: break
        }
    }

    /// Takes the sets of an access unit with 4-byte lengths.
    ///
    /// - Returns: the format, when the sets are complete and differ from those it was last made of.
    public mutating func update(with accessUnit: ArraySlice<UInt8>) throws(MediaError) -> VideoFormat? {
        var units = LengthPrefixedUnits(accessUnit)
        while let unit = try units.next() {
            // Sets stand before the first slice of a picture.
            if codec.kind(ofNALUnit: unit).isPicture { break }
            try insert(unit)
        }
        return try takeFormat()
    }

    /// The format, when the sets are complete and differ from those it was last made of; nil otherwise.
    public mutating func takeFormat() throws(MediaError) -> VideoFormat? {
        guard isChanged, !sequence.isEmpty, !picture.isEmpty, codec == .h264 || !video.isEmpty else { return nil }
        let record: [UInt8]
        switch codec {
        case .h264:
            record = try AVCConfigurationRecord(
                sequenceParameterSets: sequence.map(\.unit), pictureParameterSets: picture.map(\.unit)
            ).encoded()
        case .hevc:
            record = try HEVCConfigurationRecord(
                videoParameterSets: video.map(\.unit), sequenceParameterSets: sequence.map(\.unit),
                pictureParameterSets: picture.map(\.unit)
            ).encoded()
        }
        let format = try VideoFormat(codec: codec, configurationRecord: record[...])
        isChanged = false
        return format
    }

    private func id(of unit: ArraySlice<UInt8>, _ kind: NALUnitKind) throws(MediaError) -> Int {
        switch (codec, kind) {
        case (.h264, .sequenceParameterSet): try AVCSequenceParameterSet.parse(unit).id
        case (.h264, _): try AVCPictureParameterSet.parse(unit).id
        case (.hevc, .videoParameterSet): try HEVCVideoParameterSet.parse(unit).id
        case (.hevc, .sequenceParameterSet): try HEVCSequenceParameterSet.parse(unit).id
        case (.hevc, _): try HEVCPictureParameterSet.parse(unit).id
        }
    }

    private mutating func insert(
        _ unit: ArraySlice<UInt8>, id: Int, into list: WritableKeyPath<ParameterSets, [Entry]>
    ) {
        guard let index = self[keyPath: list].firstIndex(where: { $0.id == id }) else {
            self[keyPath: list].append(Entry(id: id, unit: Array(unit)))
            isChanged = true
            return
        }
        guard !self[keyPath: list][index].unit.elementsEqual(unit) else { return }
        self[keyPath: list][index].unit = Array(unit)
        isChanged = true
    }
}
