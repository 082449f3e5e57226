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

    /// Whether audio is AAC, as its `esds` says (ISO/IEC 14496-1 §7.2.6, ISO/IEC 14496-3 §1.6): an `mp4a` may be MP3, or a codec of another house.
    func checkAAC(_ bytes: [UInt8]) throws(CommonEncryptionError) {
        let esds = try children.required("esds", in: box.range.lowerBound)
        let type = try esds.fields(bytes) { (reader) throws(CommonEncryptionError) in
            try reader.skip(4)
            try Self.beginDescriptor(&reader, tag: 3, in: esds)
            try reader.skip(2)
            let flags = try reader.readUInt8()
            if flags & 0x80 != 0 { try reader.skip(2) }
            if flags & 0x40 != 0 { try reader.skip(Int(try reader.readUInt8())) }
            if flags & 0x20 != 0 { try reader.skip(2) }
            try Self.beginDescriptor(&reader, tag: 4, in: esds)
            return try reader.readUInt8()
        }
        // MPEG-4 audio, and AAC of MPEG-2.
        guard [0x40, 0x66, 0x67, 0x68].contains(type) else {
            throw esds.fault(.unsupported("audio of the object type \(type)"))
        }
    }

    private static func beginDescriptor(
        _ reader: inout FieldReader<CommonEncryptionError>, tag: UInt8, in box: MovieBox
    ) throws(CommonEncryptionError) {
        let found = try reader.readUInt8()
        guard found == tag else { throw box.fault(.value(UInt64(found))) }
        // Its length: up to four bytes, of which all but the last have the first bit.
        for _ in 0..<4 {
            if try reader.readUInt8() & 0x80 == 0 { return }
        }
        throw box.fault(.unsupported("a length of more than four bytes"))
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
