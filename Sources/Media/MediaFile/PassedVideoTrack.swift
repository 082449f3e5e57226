internal import CAVCodec
internal import Media
internal import VideoCodec

/// H.264 or H.265, passed through: the NAL units stay as they are, only what lies between them changes.
final class PassedVideoTrack: ContainerTrack {
    private let codec: VideoCodec
    private let timing: StreamTiming
    /// Frames by which decoding runs ahead of showing.
    private let reordering: Int
    private var framing: Framing
    private var lastDecodeTime: MediaTime?
    private var isFormatKnown = false

    private enum Framing {
        /// Behind lengths, described by a configuration record.
        case lengthPrefixed(lengthSize: Int)
        /// Behind start codes, the parameter sets among the frames.
        case byteStream(ParameterSets)
    }

    /// - Returns: nil for another codec.
    init?(_ stream: UnsafePointer<AVStream>) {
        guard let parameters = UnsafePointer(stream.pointee.codecpar) else { return nil }
        switch parameters.pointee.codec_id {
        case AV_CODEC_ID_H264: codec = .h264
        case AV_CODEC_ID_HEVC: codec = .hevc
        default: return nil
        }
        timing = StreamTiming(stream)
        reordering = Int(min(max(parameters.pointee.video_delay, 0), 16))
        framing = .byteStream(ParameterSets(codec: codec))
    }

    /// The format, when the container declares it in advance.
    func start(_ stream: UnsafePointer<AVStream>) throws(TrackFailure) -> [MediaEvent] {
        guard let parameters = UnsafePointer(stream.pointee.codecpar) else { return [] }
        return try configure(parameters.configuration)
    }

    func take(_ packet: UnsafePointer<AVPacket>) throws(TrackFailure) -> [MediaEvent] {
        var events: [MediaEvent] = []
        if let configuration = packet.newConfiguration { events += try configure(configuration) }
        let bytes = packet.bytes
        guard !bytes.isEmpty else { return events }
        let data: [UInt8]
        do throws(MediaError) {
            switch framing {
            case .lengthPrefixed(let lengthSize):
                data = try LengthPrefixedUnits.widened(bytes[...], from: lengthSize)
            case .byteStream:
                data = AnnexB.lengthPrefixed(bytes[...])
            }
        } catch {
            throw .damaged(error)
        }
        let isKeyFrame = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        if isKeyFrame || !isFormatKnown, let format = newFormat(in: data) { events.append(.videoFormat(format)) }
        let presentationTime = timing.time(packet.pointee.pts)
        // A byte stream without a container has no times; its frames come at an even rate.
        guard presentationTime != nil || reordering == 0 else { throw .untimed }
        let decodeTime = timing.time(packet.pointee.dts) ?? nextDecodeTime(presentationTime)
        lastDecodeTime = decodeTime
        // What comes before the first parameter sets cannot be decoded by anyone.
        guard isFormatKnown, !data.isEmpty else { return events }
        events.append(
            .accessUnit(
                AccessUnit(
                    track: .video(codec), isKeyFrame: isKeyFrame, presentationTime: presentationTime ?? decodeTime,
                    decodeTime: decodeTime, data: data)))
        return events
    }

    private func configure(_ configuration: [UInt8]) throws(TrackFailure) -> [MediaEvent] {
        guard !configuration.isEmpty else { return [] }
        guard configuration[0] == 1 else {
            framing = .byteStream(ParameterSets(codec: codec))
            return newFormat(in: AnnexB.lengthPrefixed(configuration[...])).map { [.videoFormat($0)] } ?? []
        }
        do {
            var (format, lengthSize) = try VideoFormat.parse(codec: codec, configurationRecord: configuration[...])
            format.frameRate = timing.frameRate ?? format.frameRate
            framing = .lengthPrefixed(lengthSize: lengthSize)
            isFormatKnown = true
            return [.videoFormat(format)]
        } catch {
            throw .damaged(error)
        }
    }

    /// The format, when the parameter sets in front of a frame change it.
    private func newFormat(in data: [UInt8]) -> VideoFormat? {
        guard case .byteStream(var sets) = framing else { return nil }
        // Damaged sets are passed over; a decoder keeps the ones before, too.
        guard var format = try? sets.update(with: data[...]) else {
            framing = .byteStream(sets)
            return nil
        }
        framing = .byteStream(sets)
        format.frameRate = timing.frameRate ?? format.frameRate
        isFormatKnown = true
        return format
    }

    /// For a container without decode times: Matroska leaves out the first ones, a bare stream all.
    private func nextDecodeTime(_ presentationTime: MediaTime?) -> MediaTime {
        let step = Int64(1e9 / (timing.frameRate ?? 25))
        if let lastDecodeTime { return lastDecodeTime + MediaTime(nanoseconds: step) }
        return (presentationTime ?? .zero) - MediaTime(nanoseconds: step * Int64(reordering))
    }
}
