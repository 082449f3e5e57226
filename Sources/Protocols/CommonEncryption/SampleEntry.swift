internal import Media
internal import Wire

/// The sample entry of a track: what its samples are (ISO/IEC 14496-12 §8.5.2, §12.1.3, §12.2.3).
struct SampleEntry {
    enum Media: Equatable {
        case video, audio
    }

    let box: MovieBox
    /// Nil for what is neither.
    let media: Media?
    /// Its boxes, behind the fields of its kind.
    let children: [MovieBox]
    /// Those fields.
    let fields: Range<Int>

    private static let videoKinds: Set<FourCC> = ["avc1", "avc3", "hvc1", "hev1", "encv"]
    private static let audioKinds: Set<FourCC> = ["mp4a", "enca"]
    /// Bytes of fields: of a VisualSampleEntry, and of an AudioSampleEntry of version 0.
    private static let videoFields = 78
    private static let audioFields = 28

    init(_ bytes: [UInt8], stsd: MovieBox) throws(CommonEncryptionError) {
        let count = try stsd.fields(bytes) { (reader) throws(CommonEncryptionError) in
            try reader.skip(4)
            return try reader.readUInt32()
        }
        // A fragment may name another one of several, and each could be encrypted in another way.
        guard count == 1 else { throw stsd.fault(.count(Int(count), limit: 1)) }
        let entries = try MovieBox.list(bytes, in: (stsd.content.lowerBound + 8)..<stsd.content.upperBound)
        guard entries.count == 1 else { throw stsd.fault(.count(entries.count, limit: 1)) }
        box = entries[0]
        media = Self.videoKinds.contains(box.kind) ? .video : Self.audioKinds.contains(box.kind) ? .audio : nil
        let length = media == .video ? Self.videoFields : Self.audioFields
        guard let media else {
            fields = box.content
            children = []
            return
        }
        guard box.content.count >= length else {
            throw .wire(.truncated(offset: box.content.lowerBound, needed: length, available: box.content.count))
        }
        if media == .audio {
            let version = UInt64(bytes[box.content.lowerBound + 8]) << 8 | UInt64(bytes[box.content.lowerBound + 9])
            guard version == 0 else { throw box.fault(.unsupported("version \(version) of a sample entry")) }
        }
        fields = box.content.lowerBound..<(box.content.lowerBound + length)
        children = try MovieBox.list(bytes, in: fields.upperBound..<box.content.upperBound)
    }

    /// How its video is coded: codec, bytes of a unit's length, and parameter sets.
    func video(_ bytes: [UInt8]) throws(CommonEncryptionError) -> (lengthSize: Int, headers: SliceHeaders) {
        let isAVC = box.kind == "avc1" || box.kind == "avc3"
        let record = try children.required(isAVC ? "avcC" : "hvcC", in: box.range.lowerBound)
        do throws(MediaError) {
            let codec: VideoCodec = isAVC ? .h264 : .hevc
            let content = bytes[record.content]
            let lengthSize =
                isAVC
                ? try AVCConfigurationRecord.parse(content).nalUnitLengthSize
                : try HEVCConfigurationRecord.parse(content).nalUnitLengthSize
            return (lengthSize, try SliceHeaders(codec: codec, configurationRecord: content))
        } catch {
            throw .media(error, offset: record.content.lowerBound)
        }
    }
}
