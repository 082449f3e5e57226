internal import CAVCodec
internal import Media

/// AAC, passed through: raw frames as they are, ADTS frames without their headers.
final class PassedAudioTrack: ContainerTrack {
    private let timing: StreamTiming
    private var format: AudioFormat?
    /// The container has the configuration, and its packets are raw frames.
    private var isRaw = false
    /// Of a raw frame.
    private var frameDuration = MediaTime.zero
    private var nextTime: MediaTime?

    /// - Returns: nil for another codec.
    init?(_ stream: UnsafePointer<AVStream>) {
        guard let parameters = UnsafePointer(stream.pointee.codecpar),
            parameters.pointee.codec_id == AV_CODEC_ID_AAC
        else { return nil }
        timing = StreamTiming(stream)
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
        var time = timing.time(packet.pointee.dts) ?? timing.time(packet.pointee.pts) ?? nextTime ?? .zero
        if isRaw {
            events.append(unit(bytes, at: time))
            time = time + frameDuration
        } else {
            do throws(MediaError) {
                for frame in try ADTSFrames.parse(bytes[...]) {
                    events += change(to: try AudioFormat(audioSpecificConfig: frame.config.encoded()[...]))
                    events.append(unit(Array(frame.payload), at: time))
                    time = time + frame.config.frameDuration
                }
            } catch {
                throw .damaged(error)
            }
        }
        nextTime = time
        return events
    }

    private func configure(_ configuration: [UInt8]) throws(TrackFailure) -> [MediaEvent] {
        guard !configuration.isEmpty else { return [] }
        do throws(MediaError) {
            let format = try AudioFormat(audioSpecificConfig: configuration[...])
            frameDuration = try AudioSpecificConfig.parse(configuration[...]).frameDuration
            isRaw = true
            return change(to: format)
        } catch {
            throw .damaged(error)
        }
    }

    private func change(to format: AudioFormat) -> [MediaEvent] {
        guard format != self.format else { return [] }
        self.format = format
        return [.audioFormat(format)]
    }

    private func unit(_ data: [UInt8], at time: MediaTime) -> MediaEvent {
        .accessUnit(
            AccessUnit(
                track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time, data: data))
    }
}
