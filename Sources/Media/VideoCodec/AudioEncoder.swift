internal import CAVCodec
public import Media

/// What an `AudioEncoder` is asked for.
public struct AudioEncoderConfiguration: Equatable, Sendable {
    /// Samples per second.
    public var sampleRate: Int = 48_000
    /// 1 or 2.
    public var channels: Int
    public var bitsPerSecond: Int

    public init(channels: Int, bitsPerSecond: Int) {
        self.channels = channels
        self.bitsPerSecond = bitsPerSecond
    }
}

/// Turns samples into AAC-LC frames (libavcodec's `aac`). Used by one thread at a time.
public final class AudioEncoder {
    public let configuration: AudioEncoderConfiguration
    public let format: AudioFormat
    /// How much earlier than the first sample the first frame begins: a frame of AAC needs its predecessor to be
    /// heard right, so the encoder puts one of silence in front.
    public let delay: MediaTime
    /// Samples of each channel in a frame.
    public let samplesPerFrame: Int

    private let codecContext: CodecContext
    /// Interleaved, less than one frame.
    private(set) var waiting: [Float] = []
    /// Of the first waiting sample, in samples; nil before the first.
    private var position: Int64?
    private var captureInstants: [Int64: UInt64] = [:]

    /// A jump in time above this, in seconds, is followed; below, samples are taken to be continuous.
    private static let toleratedJump = 0.1

    private static let sampleRates: Set<Int> = [
        8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
    ]

    public init(_ configuration: AudioEncoderConfiguration) throws(VideoCodecError) {
        guard Self.sampleRates.contains(configuration.sampleRate) else {
            throw .invalid(.sampleRate, value: configuration.sampleRate)
        }
        guard (1...2).contains(configuration.channels) else {
            throw .invalid(.channels, value: configuration.channels)
        }
        guard (8_000...1_000_000).contains(configuration.bitsPerSecond) else {
            throw .invalid(.bitsPerSecond, value: configuration.bitsPerSecond)
        }
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let encoder = wb_avcodec_find_encoder_by_name("aac") else {
            throw .noEncoder([EncoderRejection(encoder: "aac", reason: "not in this libavcodec")])
        }
        codecContext = try CodecContext(encoder)
        let context = codecContext.context
        context.pointee.sample_rate = Int32(configuration.sampleRate)
        context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        context.pointee.bit_rate = numericCast(configuration.bitsPerSecond)
        context.pointee.time_base = AVRational(num: 1, den: Int32(configuration.sampleRate))
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        wb_av_channel_layout_default(&context.pointee.ch_layout, Int32(configuration.channels))
        try codecContext.open()
        self.configuration = configuration
        samplesPerFrame = Int(context.pointee.frame_size)
        delay = MediaTime(
            ticks: Int64(context.pointee.initial_padding), timescale: Int64(configuration.sampleRate))
        format = AudioFormat(
            codec: .aac, sampleRate: configuration.sampleRate, channels: configuration.channels,
            audioSpecificConfig: codecContext.extradata)
        let avFrame = codecContext.avFrame
        avFrame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        avFrame.pointee.sample_rate = context.pointee.sample_rate
        avFrame.pointee.nb_samples = context.pointee.frame_size
        try Libav.check(
            wb_av_channel_layout_copy(&avFrame.pointee.ch_layout, &context.pointee.ch_layout),
            "av_channel_layout_copy")
        try Libav.check(wb_av_frame_get_buffer(avFrame, 0), "av_frame_get_buffer")
    }

    /// Encodes samples.
    ///
    /// - Parameter samples: −1…1, the channels of one instant side by side; any number of instants.
    /// - Parameter presentationTime: when the first of them is heard. A unit's times are counted from it in samples,
    ///   without drift, until the given time jumps by more than 0.1 s.
    public func encode(
        _ samples: [Float], at presentationTime: MediaTime, captureInstant: UInt64? = nil
    ) throws(VideoCodecError) -> [AccessUnit] {
        guard samples.count.isMultiple(of: configuration.channels) else {
            throw .invalid(.sampleCount, value: samples.count)
        }
        let given = presentationTime.ticks(timescale: Int64(configuration.sampleRate))
        if let position {
            let expected = position &+ Int64(waiting.count / configuration.channels)
            let jump = given.subtractingReportingOverflow(expected)
            let tolerated = Int64(Double(configuration.sampleRate) * Self.toleratedJump)
            // Time never runs backwards: what was encoded is out.
            if jump.overflow || jump.partialValue > tolerated {
                self.position = max(given &- Int64(waiting.count / configuration.channels), position)
            }
        } else {
            position = given
        }
        waiting += samples
        let count = samplesPerFrame * configuration.channels
        let whole = waiting.count - waiting.count % count
        let end = position.map { $0 &+ Int64(whole / configuration.channels) }
        // Also when a frame fails: an encoder may go on failing.
        defer {
            waiting.removeFirst(whole)
            position = end
        }
        var units: [AccessUnit] = []
        for begin in stride(from: 0, to: whole, by: count) {
            units += try encodeFrame(waiting[begin..<(begin + count)], captureInstant: captureInstant)
        }
        return units
    }

    /// Ends the stream: the samples that do not fill a frame, and what the encoder held back.
    public func finish() throws(VideoCodecError) -> [AccessUnit] {
        var units: [AccessUnit] = []
        if !waiting.isEmpty {
            let silence = [Float](repeating: 0, count: samplesPerFrame * configuration.channels - waiting.count)
            units += try encodeFrame((waiting + silence)[...], captureInstant: nil)
            waiting = []
        }
        if case .failed(let error) = codecContext.send(avFrame: nil) { throw error }
        return try units + receive()
    }

    private func encodeFrame(
        _ samples: ArraySlice<Float>, captureInstant: UInt64?
    ) throws(VideoCodecError) -> [AccessUnit] {
        let avFrame = codecContext.avFrame
        try Libav.check(wb_av_frame_make_writable(avFrame), "av_frame_make_writable")
        let planes = [avFrame.pointee.data.0, avFrame.pointee.data.1]
        for channel in 0..<configuration.channels {
            guard let plane = planes[channel] else { throw .invalid(.channels, value: channel) }
            plane.withMemoryRebound(to: Float.self, capacity: samplesPerFrame) { target in
                var source = samples.startIndex + channel
                for index in 0..<samplesPerFrame {
                    target[index] = samples[source]
                    source += configuration.channels
                }
            }
        }
        let start = position ?? 0
        avFrame.pointee.pts = start
        position = start &+ Int64(samplesPerFrame)
        captureInstants[start] = captureInstant
        switch codecContext.send(avFrame: avFrame) {
        case .taken: return try receive()
        case .full: throw .malformedOutput("the encoder accepts no samples and returns no packet")
        case .failed(let error): throw error
        }
    }

    private func receive() throws(VideoCodecError) -> [AccessUnit] {
        var units: [AccessUnit] = []
        while try codecContext.receivePacket() {
            let packet = codecContext.packet.pointee
            // The instant at which the newest samples that this frame holds were captured.
            let newest = packet.pts &+ Int64(codecContext.context.pointee.initial_padding)
            let instant = captureInstants.removeValue(forKey: newest)
            if captureInstants.count > 64 { captureInstants.removeAll() }
            let time = MediaTime(ticks: packet.pts, timescale: Int64(configuration.sampleRate))
            units.append(
                AccessUnit(
                    track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time,
                    data: Array(UnsafeBufferPointer(start: packet.data, count: Int(max(packet.size, 0)))),
                    captureInstant: instant))
        }
        return units
    }
}
