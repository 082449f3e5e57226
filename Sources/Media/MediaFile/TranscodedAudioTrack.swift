internal import CAVCodec
internal import Media
internal import VideoCodec

/// Audio of another codec, decoded, brought to 48 kHz and one or two channels, and encoded again as AAC.
final class TranscodedAudioTrack: TranscodedTrack {
    private let timing: StreamTiming
    let decoder: CodecContext
    private let encoder: AudioEncoder
    private let resampler: Resampler
    private var isFormatDelivered = false
    private var nextTime: MediaTime?

    init(
        _ stream: UnsafePointer<AVStream>, _ transcoding: MediaFileConfiguration.Transcoding
    ) throws(TrackFailure) {
        timing = StreamTiming(stream)
        do throws(VideoCodecError) {
            decoder = try CodecContext.decoder(stream.pointee.codecpar)
            let channels = decoder.context.pointee.ch_layout.nb_channels == 1 ? 1 : 2
            encoder = try AudioEncoder(
                AudioEncoderConfiguration(channels: channels, bitsPerSecond: transcoding.audioBitsPerSecond))
            resampler = try Resampler(channels: channels, sampleRate: encoder.configuration.sampleRate)
        } catch {
            throw .coding(error)
        }
    }

    func drain() throws(VideoCodecError) -> [MediaEvent] { try encoder.finish().map { .accessUnit($0) } }

    func receive() throws(VideoCodecError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        while (try? decoder.receiveFrame(into: decoder.avFrame)) ?? false {
            defer { wb_av_frame_unref(decoder.avFrame) }
            let samples = try resampler.convert(decoder.avFrame)
            let time = timing.time(decoder.avFrame.pointee.best_effort_timestamp) ?? nextTime ?? .zero
            let channels = encoder.configuration.channels
            nextTime =
                time
                + MediaTime(
                    ticks: Int64(samples.count / channels), timescale: Int64(encoder.configuration.sampleRate))
            let units = try encoder.encode(samples, at: time)
            if !units.isEmpty, !isFormatDelivered {
                isFormatDelivered = true
                events.append(.audioFormat(encoder.format))
            }
            events += units.map { .accessUnit($0) }
        }
        return events
    }
}

/// Changes rate, channels and sample format (libswresample).
private final class Resampler {
    private var context: OpaquePointer?
    private let output: UnsafeMutablePointer<AVFrame>
    private let channels: Int
    private let sampleRate: Int

    init(channels: Int, sampleRate: Int) throws(VideoCodecError) {
        self.channels = channels
        self.sampleRate = sampleRate
        try Libav.load(WB_LIBRARY_SWRESAMPLE)
        guard let context = wb_swr_alloc(), let output = wb_av_frame_alloc() else {
            throw .failed(call: "swr_alloc", code: wb_averror(ENOMEM), message: "out of memory")
        }
        self.context = context
        self.output = output
    }

    deinit {
        var output: UnsafeMutablePointer<AVFrame>? = output
        wb_av_frame_free(&output)
        wb_swr_free(&context)
    }

    /// Interleaved samples.
    func convert(_ input: UnsafeMutablePointer<AVFrame>) throws(VideoCodecError) -> [Float] {
        if input.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            // PCM says how many channels, not which; the usual ones are meant.
            wb_av_channel_layout_default(&input.pointee.ch_layout, input.pointee.ch_layout.nb_channels)
        }
        wb_av_frame_unref(output)
        output.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
        output.pointee.sample_rate = Int32(sampleRate)
        wb_av_channel_layout_default(&output.pointee.ch_layout, Int32(channels))
        try Libav.check(wb_swr_convert_frame(context, output, input), "swr_convert_frame")
        guard let data = output.pointee.data.0 else { return [] }
        let count = Int(output.pointee.nb_samples) * channels
        return data.withMemoryRebound(to: Float.self, capacity: count) {
            Array(UnsafeBufferPointer(start: $0, count: count))
        }
    }
}
