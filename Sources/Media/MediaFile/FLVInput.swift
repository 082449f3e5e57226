internal import FLV
internal import Media

/// An FLV file, read by our own parser: passing one on does not bring libav into the process.
final class FLVInput: MediaInput {
    /// The file does not say reliably: its header's flags are often wrong.
    let trackCount: Int? = nil

    private let path: String
    private let file: FileReader
    private var reader = FLVFileReader()
    private var depacketizer = Depacketizer()

    private static let chunk = 64 << 10

    init(path: String) throws(MediaSourceError) {
        self.path = path
        file = try FileReader(path: path)
    }

    func next() throws(MediaSourceError) -> [MediaEvent]? {
        do throws(FLVError) {
            if let tag = try reader.nextTag() {
                let event = try depacketizer.message(type: tag.type, timestamp: tag.timestamp, body: tag.body[...])
                return event.map { [$0] } ?? []
            }
        } catch {
            throw failure(error)
        }
        let bytes = try file.read(Self.chunk)
        guard bytes.isEmpty else {
            reader.append(bytes)
            return []
        }
        do throws(FLVError) {
            try reader.finish()
        } catch {
            throw failure(error)
        }
        return nil
    }

    private func failure(_ error: FLVError) -> MediaSourceError {
        let hint: String
        switch error {
        case .unsupportedVideoCodec, .unsupportedAudioFormat, .unsupportedFourCC:
            hint = UnsupportedTrack.hint
        case .wire, .amf0, .media, .unknownAudioPacketType, .notAHeaderFrame, .headerFrameLength, .invalidMetadata,
            .compositionTimeOutOfRange, .missingSequenceHeader, .codecMismatch, .notFLV, .unknownTagType,
            .tagTooLong:
            hint = "The file is damaged or was cut off; write it again (ffmpeg -i IN -c copy OUT.flv)."
        }
        return MediaSourceError(what: "cannot read \(path)", why: "\(error)", hint: hint)
    }
}

enum UnsupportedTrack {
    static let hint =
        "Only H.264, H.265 and AAC are passed through: allow transcoding, or convert the file first "
        + "(ffmpeg -i IN -c:v libx264 -c:a aac OUT.mp4)."
}
