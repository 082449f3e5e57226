internal import CAVCodec
internal import Media
internal import VideoCodec

/// Video of another codec, decoded and encoded again as H.264.
final class TranscodedVideoTrack: TranscodedTrack {
    private let timing: StreamTiming
    let decoder: CodecContext
    private let transcoding: MediaFileConfiguration.Transcoding
    private let scaler: FrameScaler
    private let picture: VideoFrame
    private var encoder: VideoEncoder?
    private var lastTime: MediaTime?
    private var isKeyFrameRequested = false

    init(
        _ stream: UnsafePointer<AVStream>, _ transcoding: MediaFileConfiguration.Transcoding
    ) throws(TrackFailure) {
        timing = StreamTiming(stream)
        self.transcoding = transcoding
        do throws(VideoCodecError) {
            decoder = try CodecContext.decoder(stream.pointee.codecpar)
            scaler = try FrameScaler()
            picture = try VideoFrame()
        } catch {
            throw .coding(error)
        }
    }

    func requestKeyFrame() { isKeyFrameRequested = true }

    func drain() throws(VideoCodecError) -> [MediaEvent] { try encoder?.finish() ?? [] }

    func receive() throws(VideoCodecError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        while (try? decoder.receiveFrame(into: picture.avFrame)) ?? false {
            defer { wb_av_frame_unref(picture.avFrame) }
            let step = MediaTime(nanoseconds: Int64(1e9 / (timing.frameRate ?? 25)))
            var time = timing.time(picture.avFrame.pointee.best_effort_timestamp)
            if let lastTime, time.map({ $0 <= lastTime }) ?? true { time = lastTime + step }
            let encoder = try openedEncoder()
            if isKeyFrameRequested {
                isKeyFrameRequested = false
                encoder.requestKeyFrame()
            }
            let scaled = try scaler.scale(
                picture, width: encoder.configuration.width, height: encoder.configuration.height,
                pixelFormat: encoder.configuration.pixelFormat)
            events += try encoder.encode(scaled, at: time ?? .zero)
            lastTime = time ?? .zero
        }
        return events
    }

    /// Of the size of the first frame, made even.
    private func openedEncoder() throws(VideoCodecError) -> VideoEncoder {
        if let encoder { return encoder }
        var configuration = VideoEncoderConfiguration(
            width: picture.width / 2 * 2, height: picture.height / 2 * 2, frameRate: timing.frameRate ?? 25,
            bitsPerSecond: transcoding.videoBitsPerSecond)
        configuration.encoders = transcoding.encoders
        configuration.preset = transcoding.preset
        configuration.keyFrameInterval = transcoding.keyFrameInterval
        let encoder = try VideoEncoder(configuration)
        self.encoder = encoder
        return encoder
    }
}
