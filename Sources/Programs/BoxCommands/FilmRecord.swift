import Media
import Wire

/// What went into a film, without its frames: enough to make the index of the same film again, when the frames are there.
enum FilmRecord: Equatable {
    /// A source begins, or gives nothing.
    case source(Source)
    /// - Parameter isOfTwo: the source has both tracks.
    case video(VideoFormat, isOfTwo: Bool)
    case audio(AudioFormat, isOfTwo: Bool)
    case unit(Unit)

    struct Source: Equatable {
        var identity: FilmSource.Identity
        /// As its verified policy says; nil: it names none.
        var stream: String?
        /// When its first frame is shown, by its own times; nil: nothing of it is in the film.
        var lead: MediaTime?
    }

    struct Unit: Equatable {
        var track: AccessUnit.Track
        var isKeyFrame: Bool
        /// As the source says.
        var decodeTime: MediaTime
        var presentationTime: MediaTime
        /// Bytes.
        var size: Int
    }

    private enum Kind: UInt8 {
        case source = 1
        case video, audio, unit
    }

    /// Bytes of one frame.
    private static let maxUnitSize = 256 << 20
    private static let maxText = 4096
    private static let maxConfiguration = 1 << 20
}

extension FilmRecord.Unit {
    init(_ unit: AccessUnit) {
        self.init(
            track: unit.track, isKeyFrame: unit.isKeyFrame, decodeTime: unit.decodeTime,
            presentationTime: unit.presentationTime, size: unit.data.count)
    }
}

extension FilmRecord {
    /// - Returns: false, with nothing appended: it is larger than what is read.
    func append(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .source(let source):
            let name = Array(source.identity.name.utf8)
            let stream = source.stream.map { Array($0.utf8) }
            guard name.count <= Self.maxText, (stream?.count ?? 0) <= Self.maxText else { return false }
            bytes.append(Kind.source.rawValue)
            bytes.appendUInt16(UInt16(name.count))
            bytes += name
            bytes.appendInt64(source.identity.size)
            bytes.appendInt64(source.identity.modified)
            bytes.append((source.lead == nil ? 0 : 1) | (stream == nil ? 0 : 2))
            bytes.appendInt64(source.lead?.nanoseconds ?? 0)
            bytes.appendUInt16(UInt16(stream?.count ?? 0))
            bytes += stream ?? []
        case .video(let format, let isOfTwo):
            guard format.configurationRecord.count <= Self.maxConfiguration else { return false }
            bytes.append(Kind.video.rawValue)
            bytes.append(
                (isOfTwo ? 1 : 0) | (format.codec == .hevc ? 2 : 0) | (format.frameRate == nil ? 0 : 4))
            bytes.appendInt64(Int64(format.width))
            bytes.appendInt64(Int64(format.height))
            bytes.appendUInt64(format.frameRate?.bitPattern ?? 0)
            bytes.appendUInt32(UInt32(format.configurationRecord.count))
            bytes += format.configurationRecord
        case .audio(let format, let isOfTwo):
            guard format.audioSpecificConfig.count <= Self.maxConfiguration else { return false }
            bytes.append(Kind.audio.rawValue)
            bytes.append(isOfTwo ? 1 : 0)
            bytes.appendInt64(Int64(format.sampleRate))
            bytes.appendInt64(Int64(format.channels))
            bytes.appendUInt32(UInt32(format.audioSpecificConfig.count))
            bytes += format.audioSpecificConfig
        case .unit(let unit):
            guard unit.size <= Self.maxUnitSize else { return false }
            bytes.append(Kind.unit.rawValue)
            bytes.append(
                (unit.track.isVideo ? 1 : 0) | (unit.track == .video(.hevc) ? 2 : 0) | (unit.isKeyFrame ? 4 : 0))
            bytes.appendInt64(unit.decodeTime.nanoseconds)
            bytes.appendInt64(unit.presentationTime.nanoseconds)
            bytes.appendUInt32(UInt32(unit.size))
        }
        return true
    }

    /// The next one.
    init(_ reader: inout FilmJournal.Reader) throws(FilmJournalFault) {
        let offset = reader.offset
        guard let kind = Kind(rawValue: try reader.readUInt8()) else {
            throw .value(offset: offset, "no kind of record")
        }
        switch kind {
        case .source:
            let name = try Self.text(&reader)
            let identity = FilmSource.Identity(
                name: name, size: try reader.readInt64(), modified: try reader.readInt64())
            let flags = try reader.readUInt8()
            let lead = MediaTime(nanoseconds: try reader.readInt64())
            let stream = try Self.text(&reader)
            guard flags < 4, flags & 2 != 0 || stream.isEmpty, FilmTimeline.isTime(lead) else {
                throw .value(offset: offset, "no source")
            }
            self = .source(
                Source(identity: identity, stream: flags & 2 == 0 ? nil : stream, lead: flags & 1 == 0 ? nil : lead))
        case .video:
            let flags = try reader.readUInt8()
            let (width, height) = (try reader.readInt64(), try reader.readInt64())
            let rate = Double(bitPattern: try reader.readUInt64())
            let record = try Self.configuration(&reader)
            guard flags < 8 else { throw .value(offset: offset, "no video") }
            self = .video(
                VideoFormat(
                    codec: flags & 2 == 0 ? .h264 : .hevc, width: Int(width), height: Int(height),
                    frameRate: flags & 4 == 0 ? nil : rate, configurationRecord: record), isOfTwo: flags & 1 != 0)
        case .audio:
            let flags = try reader.readUInt8()
            let (rate, channels) = (try reader.readInt64(), try reader.readInt64())
            let configuration = try Self.configuration(&reader)
            guard flags < 2 else { throw .value(offset: offset, "no audio") }
            self = .audio(
                AudioFormat(
                    codec: .aac, sampleRate: Int(rate), channels: Int(channels), audioSpecificConfig: configuration),
                isOfTwo: flags & 1 != 0)
        case .unit:
            let flags = try reader.readUInt8()
            let unit = Unit(
                track: flags & 1 == 0 ? .audio(.aac) : .video(flags & 2 == 0 ? .h264 : .hevc),
                isKeyFrame: flags & 4 != 0, decodeTime: MediaTime(nanoseconds: try reader.readInt64()),
                presentationTime: MediaTime(nanoseconds: try reader.readInt64()), size: Int(try reader.readUInt32()))
            guard flags < 8, unit.size <= Self.maxUnitSize, FilmTimeline.isTime(unit.decodeTime),
                FilmTimeline.isTime(unit.presentationTime)
            else { throw .value(offset: offset, "no frame") }
            self = .unit(unit)
        }
    }

    private static func text(_ reader: inout FilmJournal.Reader) throws(FilmJournalFault) -> String {
        let offset = reader.offset
        let count = Int(try reader.readUInt16())
        guard count <= maxText else { throw .value(offset: offset, "a text of \(count) bytes") }
        return String(decoding: try reader.readBytes(count), as: UTF8.self)
    }

    private static func configuration(_ reader: inout FilmJournal.Reader) throws(FilmJournalFault) -> [UInt8] {
        let offset = reader.offset
        let count = Int(try reader.readUInt32())
        guard count <= maxConfiguration else { throw .value(offset: offset, "a configuration of \(count) bytes") }
        return Array(try reader.readBytes(count))
    }
}

extension [UInt8] {
    fileprivate mutating func appendInt64(_ value: Int64) { appendUInt64(UInt64(bitPattern: value)) }
}

extension FilmJournal.Reader {
    fileprivate mutating func readInt64() throws(FilmJournalFault) -> Int64 { Int64(bitPattern: try readUInt64()) }
}
