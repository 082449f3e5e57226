internal import CAVCodec
internal import Media
internal import Platform
internal import VideoCodec

/// libavformat's muxer behind a `MediaWriter`, from the header to the trailer.
final class Muxer {
    enum Placement {
        case exact
        /// With a time other than the unit's own.
        case adjusted
        case ignored
    }

    private struct Track {
        var stream: UnsafeMutablePointer<AVStream>
        /// Of the last unit, in the stream's time base.
        var lastDecode: Int64?
        /// Of one unit; zero where it is not known.
        var duration: MediaTime
    }

    private let container: MediaWriter.Container
    private let file: OutputFile
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var video: Track?
    private var audio: Track?
    private var videoFormat: VideoFormat?
    private let audioFormat: AudioFormat?
    /// NAL units behind lengths that go in front of key frames, since the file's own configuration is another.
    private var parameterSets: [UInt8] = []
    private var zero: MediaTime?
    private var hasHeader = false
    private let isOrdered: Bool
    /// Units go into the fragment as they come.
    private var isDirect = false

    var bytesWritten: Int { file.bytesWritten }
    var isReaderGone: Bool { file.isReaderGone }

    /// Bytes in front of the media, of `mp4`.
    private(set) var headerSize = 0
    /// What is written is there already.
    var isRepeating: Bool {
        get { file.isRepeating }
        set { file.isRepeating = newValue }
    }

    private static let videoTimescale: Int32 = 90_000

    init(
        _ container: MediaWriter.Container, _ file: OutputFile, video: VideoFormat?, audio: AudioFormat?,
        isOrdered: Bool = false
    ) throws(MediaWriterError) {
        guard container != .mp4 || file.isSeekable else { throw .needsSeeking }
        do throws(VideoCodecError) {
            try Libav.load(WB_LIBRARY_AVFORMAT)
        } catch {
            throw .libraryMissing("\(error)")
        }
        var context: UnsafeMutablePointer<AVFormatContext>?
        let code = wb_avformat_alloc_output_context2(&context, nil, container == .mpegTS ? "mpegts" : "mp4", nil)
        guard let context else {
            throw .failed(call: "avformat_alloc_output_context2", message: Libav.message(for: code))
        }
        guard let packet = wb_av_packet_alloc() else {
            wb_avformat_free_context(context)
            throw .failed(call: "av_packet_alloc", message: "out of memory")
        }
        self.container = container
        self.file = file
        self.context = context
        self.packet = packet
        self.isOrdered = isOrdered
        videoFormat = video
        audioFormat = audio
        if let video { self.video = try addTrack(video) }
        if let audio { self.audio = try addTrack(audio) }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        wb_av_packet_free(&packet)
        // The AVIOContext is the file's; it goes with it.
        context.pointee.pb = nil
        wb_avformat_free_context(context)
    }

    /// Writes the header.
    func begin() throws(MediaWriterError) {
        context.pointee.pb = try file.openContext()
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_MAKE_ZERO
        var options: OpaquePointer?
        defer { wb_av_dict_free(&options) }
        // By how much the tracks begin apart is written in this unit; the usual one is a millisecond.
        _ = wb_av_dict_set(&options, "movie_timescale", "\(Self.videoTimescale)", 0)
        switch container {
        case .mp4: break
        case .fragmentedMP4:
            // delay_moov: the index is written with the first fragment, when it is known by how much the tracks begin
            // apart.
            _ = wb_av_dict_set(
                &options, "movflags", "frag_keyframe+empty_moov+delay_moov+default_base_moof", 0)
            context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        case .mpegTS:
            // Live: a track that pauses holds the other back by these microseconds only, and no packet waits in a
            // buffer.
            context.pointee.max_interleave_delta = 500_000
            context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        }
        try check(wb_avformat_write_header(context, &options), "avformat_write_header")
        hasHeader = true
        guard container == .mp4 else { return }
        wb_avio_flush(file.context)
        try checkFile()
        headerSize = file.bytesWritten
    }

    func write(_ unit: AccessUnit) throws(MediaWriterError) -> Placement {
        guard var track = unit.track.isVideo ? video : audio else { return .ignored }
        let zero = zero ?? unit.decodeTime
        self.zero = zero
        let scale = Int64(max(track.stream.pointee.time_base.den, 1))
        var decode = (unit.decodeTime - zero).ticks(timescale: scale)
        var presentation = (unit.presentationTime - zero).ticks(timescale: scale)
        var placement = Placement.exact
        if let last = track.lastDecode, decode <= last {
            decode = last + 1
            placement = .adjusted
        }
        if presentation < decode {
            presentation = decode
            placement = .adjusted
        }
        track.lastDecode = decode
        if unit.track.isVideo { video = track } else { audio = track }

        let prefix = unit.track.isVideo && unit.isKeyFrame ? parameterSets : []
        guard let count = Int32(exactly: prefix.count + unit.data.count), count < 1 << 30 else {
            throw .failed(call: "av_new_packet", message: "an access unit of \(unit.data.count) bytes")
        }
        let isInPlace = isDirect && prefix.isEmpty && count > 0
        wb_av_packet_unref(packet)
        if !isInPlace { try fill(unit.data, behind: prefix, count) }
        packet.pointee.stream_index = track.stream.pointee.index
        packet.pointee.pts = presentation
        packet.pointee.dts = decode
        packet.pointee.duration = numericCast(track.duration.ticks(timescale: scale))
        if unit.isKeyFrame { packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if isInPlace {
            try check(writeInPlace(unit.data, count), "av_write_frame")
        } else if isDirect {
            try check(wb_av_write_frame(context, packet), "av_write_frame")
        } else {
            try check(wb_av_interleaved_write_frame(context, packet), "av_interleaved_write_frame")
        }
        return placement
    }

    /// The unit's own memory: the muxer of MP4 copies it into its fragment, and is done with it when the call returns.
    private func writeInPlace(_ data: [UInt8], _ count: Int32) -> Int32 {
        data.withUnsafeBufferPointer { data in
            packet.pointee.data = UnsafeMutablePointer(mutating: data.baseAddress)
            packet.pointee.size = count
            defer {
                packet.pointee.data = nil
                packet.pointee.size = 0
            }
            return wb_av_write_frame(context, packet)
        }
    }

    /// What a muxer into memory has written since the last call.
    func take() -> [UInt8] { file.take() }

    func drain<Failure: Error>(_ body: (ArraySlice<UInt8>) throws(Failure) -> Void) throws(Failure) {
        try file.drain(body)
    }

    /// Writes what is held back as a fragment.
    func endFragment() throws(MediaWriterError) {
        // First what waits for the other track, then what waits for a key frame.
        try check(wb_av_interleaved_write_frame(context, nil), "av_interleaved_write_frame")
        // With delay_moov the first one writes the index alone; a second one without frames does nothing.
        for _ in 0..<2 { try check(wb_av_write_frame(context, nil), "av_write_frame") }
        // Before that the earlier one of the first units, which may come second, has to be the first: times begin with it.
        isDirect = isOrdered
    }

    /// Writes what waits for the other track, and what is in a buffer.
    func settle() throws(MediaWriterError) {
        try check(wb_av_interleaved_write_frame(context, nil), "av_interleaved_write_frame")
        wb_avio_flush(file.context)
        try checkFile()
    }

    /// Writes what is held back, and the trailer.
    func finish() throws(MediaWriterError) {
        guard hasHeader else { return }
        try check(wb_av_write_trailer(context), "av_write_trailer")
        wb_avio_flush(file.context)
        try checkFile()
    }

    func change(to format: VideoFormat) throws(MediaWriterError) {
        guard let current = videoFormat, video != nil else { return }
        guard format.codec == current.codec else { throw .formatChanged("the video codec") }
        guard format.configurationRecord != current.configurationRecord else { return }
        // It goes in front of every key frame: as much as a file's own may be, and no more.
        try Self.check(configuration: format.configurationRecord)
        videoFormat = format
        // A file has one configuration, that of its beginning. What comes later precedes the key frames,
        // where decoders look for it as well.
        parameterSets = try ParameterSetUnits.lengthPrefixed(format)
    }

    func change(to format: AudioFormat) throws(MediaWriterError) {
        guard let current = audioFormat, audio != nil else { return }
        guard format.audioSpecificConfig == current.audioSpecificConfig else { throw .formatChanged("the audio") }
    }

    /// - Parameter count: of both together.
    private func fill(_ data: [UInt8], behind prefix: [UInt8], _ count: Int32) throws(MediaWriterError) {
        try check(wb_av_new_packet(packet, count), "av_new_packet")
        let target = UnsafeMutableBufferPointer(start: packet.pointee.data, count: Int(count))
        let end = target.update(fromContentsOf: prefix)
        _ = target[end...].update(fromContentsOf: data)
    }

    private func addTrack(_ format: VideoFormat) throws(MediaWriterError) -> Track {
        let stream = try addStream(format.configurationRecord)
        let parameters = stream.pointee.codecpar!
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = format.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        parameters.pointee.width = Int32(clamping: format.width)
        parameters.pointee.height = Int32(clamping: format.height)
        // The parameter sets are in the file's configuration; without the tag some players refuse H.265.
        if format.codec == .hevc, container != .mpegTS { parameters.pointee.codec_tag = wb_tag_hvc1() }
        stream.pointee.time_base = AVRational(num: 1, den: Self.videoTimescale)
        var duration = MediaTime.zero
        if let rate = format.frameRate, rate >= 0.1, rate <= 1000 {
            stream.pointee.avg_frame_rate = AVRational(num: Int32((rate * 1000).rounded()), den: 1000)
            duration = MediaTime(nanoseconds: Int64(1e9 / rate))
        }
        return Track(stream: stream, lastDecode: nil, duration: duration)
    }

    private func addTrack(_ format: AudioFormat) throws(MediaWriterError) -> Track {
        guard (1...384_000).contains(format.sampleRate), (1...64).contains(format.channels) else {
            throw .malformedFormat("\(format.sampleRate) Hz, \(format.channels) channels")
        }
        // A decoder may yet make something of what is not understood here; then a frame is as long as it usually is.
        let configuration = try? AudioSpecificConfig.parse(format.audioSpecificConfig[...])
        let duration =
            configuration?.frameDuration ?? MediaTime(ticks: 1024, timescale: Int64(format.sampleRate))
        let stream = try addStream(format.audioSpecificConfig)
        let parameters = stream.pointee.codecpar!
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = AV_CODEC_ID_AAC
        parameters.pointee.sample_rate = Int32(format.sampleRate)
        parameters.pointee.frame_size = Int32(clamping: duration.ticks(timescale: Int64(format.sampleRate)))
        wb_av_channel_layout_default(&parameters.pointee.ch_layout, Int32(format.channels))
        stream.pointee.time_base = AVRational(num: 1, den: Int32(format.sampleRate))
        return Track(stream: stream, lastDecode: nil, duration: duration)
    }

    private func addStream(_ configuration: [UInt8]) throws(MediaWriterError) -> UnsafeMutablePointer<AVStream> {
        try Self.check(configuration: configuration)
        guard let stream = wb_avformat_new_stream(context, nil), let extradata = Libav.paddedCopy(of: configuration)
        else {
            throw .failed(call: "avformat_new_stream", message: "out of memory")
        }
        stream.pointee.codecpar.pointee.extradata = extradata
        stream.pointee.codecpar.pointee.extradata_size = Int32(configuration.count)
        return stream
    }

    private static func check(configuration: [UInt8]) throws(MediaWriterError) {
        guard configuration.count < 1 << 20 else {
            throw .malformedFormat("\(configuration.count) bytes of configuration")
        }
    }

    private func check(_ code: Int32, _ call: String) throws(MediaWriterError) {
        try checkFile()
        guard code < 0 else { return }
        throw .failed(call: call, message: Libav.message(for: code))
    }

    /// Whether all writes went well: libavformat reports a failed one late, or not at all.
    private func checkFile() throws(MediaWriterError) {
        if file.failure != 0 { throw .cannotWrite(reason: SystemMessage.text(file.failure)) }
    }
}

/// The parameter sets of a configuration record as NAL units behind 4-byte lengths.
enum ParameterSetUnits {
    static func lengthPrefixed(_ format: VideoFormat) throws(MediaWriterError) -> [UInt8] {
        do throws(MediaError) {
            let record = format.configurationRecord[...]
            let units =
                switch format.codec {
                case .h264:
                    try AVCConfigurationRecord.parse(record).parameterSets
                case .hevc:
                    try HEVCConfigurationRecord.parse(record).arrays.flatMap(\.units)
                }
            return AnnexB.lengthPrefixed(units.map { $0[...] })
        } catch {
            throw .malformedFormat("\(error)")
        }
    }
}

extension AVCConfigurationRecord {
    fileprivate var parameterSets: [[UInt8]] { sequenceParameterSets + pictureParameterSets }
}
