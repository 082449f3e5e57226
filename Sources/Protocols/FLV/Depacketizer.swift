public import Media

/// FLV bodies back into formats and access units; the payload is given opened when it was sealed.
///
/// Time goes on through 2^32 milliseconds: each stamp is read as the one nearest to the stamp before it, of either
/// track. The first one stands as it is.
public struct Depacketizer: Sendable {
    private var time: Int64?
    private var video: (codec: VideoCodec, nalUnitLengthSize: Int)?
    private var hasAudio = false

    public init() {}

    /// A whole message (type 8 or 9) of a stream in clear. Nil for what is neither a format nor a frame.
    public mutating func message(
        type: UInt8, timestamp: UInt32, body: ArraySlice<UInt8>
    ) throws(FLVError) -> MediaEvent? {
        switch type {
        case FLVTag.video:
            let (header, payload) = try VideoTagHeader.parse(body)
            return try self.video(header, payload: payload, timestamp: timestamp)
        case FLVTag.audio:
            let (header, payload) = try AudioTagHeader.parse(body)
            return try audio(header, payload: payload, timestamp: timestamp)
        default:
            return nil
        }
    }

    /// - Parameter payload: the configuration record, or the access unit in clear.
    /// - Returns: nil for what carries no frame, an empty frame included.
    public mutating func video(
        _ header: VideoTagHeader, payload: ArraySlice<UInt8>, timestamp: UInt32
    ) throws(FLVError) -> MediaEvent? {
        switch header.kind {
        case .sequenceHeader:
            do {
                let (format, lengthSize) = try VideoFormat.parse(codec: header.codec, configurationRecord: payload)
                video = (header.codec, lengthSize)
                return .videoFormat(format)
            } catch {
                throw .media(error)
            }
        case .codedFrame(let compositionTime):
            guard let video else { throw .missingSequenceHeader }
            guard video.codec == header.codec else { throw .codecMismatch }
            let decode = unwrap(timestamp)
            guard !payload.isEmpty else { return nil }
            let data: [UInt8]
            if video.nalUnitLengthSize == 4 {
                data = Array(payload)
            } else {
                do {
                    data = try LengthPrefixedUnits.widened(payload, from: video.nalUnitLengthSize)
                } catch {
                    throw .media(error)
                }
            }
            return .accessUnit(
                AccessUnit(
                    track: .video(header.codec), isKeyFrame: header.isKeyFrame,
                    presentationTime: MediaTime(milliseconds: decode &+ Int64(compositionTime)),
                    decodeTime: MediaTime(milliseconds: decode), data: data))
        case .endOfSequence, .ntdfHeader, .metadata, .command, .other:
            return nil
        }
    }

    /// - Parameter payload: the AudioSpecificConfig, or the raw frame in clear.
    /// - Returns: nil for what carries no audio, an empty frame included.
    public mutating func audio(
        _ header: AudioTagHeader, payload: ArraySlice<UInt8>, timestamp: UInt32
    ) throws(FLVError) -> MediaEvent? {
        switch header.kind {
        case .sequenceHeader:
            do {
                let format = try AudioFormat(audioSpecificConfig: payload)
                hasAudio = true
                return .audioFormat(format)
            } catch {
                throw .media(error)
            }
        case .rawFrame:
            guard hasAudio else { throw .missingSequenceHeader }
            let time = MediaTime(milliseconds: unwrap(timestamp))
            guard !payload.isEmpty else { return nil }
            return .accessUnit(
                AccessUnit(
                    track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
                    data: Array(payload)))
        case .other:
            return nil
        }
    }

    /// The timeline that stamps modulo 2^32 were cut from.
    private mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        let last = time ?? Int64(timestamp)
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        let now = last &+ Int64(step)
        time = now
        return now
    }
}
