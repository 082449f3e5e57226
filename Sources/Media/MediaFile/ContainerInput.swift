internal import CAVCodec
internal import Media
internal import VideoCodec

/// What libavformat reads: any container in a file, or in another source of bytes. Its calls block, on the thread of the source only.
final class ContainerInput: MediaInput {
    /// Of the file; what messages call it.
    private let path: String
    private let damagedHint: String
    /// Outlives the context.
    private let input: InputBytes
    private var context: UnsafeMutablePointer<AVFormatContext>?
    private let packet: UnsafeMutablePointer<AVPacket>
    /// By the number of the stream.
    private var tracks: [Int32: any ContainerTrack] = [:]
    private var startEvents: [MediaEvent] = []
    /// Whether one of them is of video.
    private(set) var hasVideo = false
    private var isAtEnd = false
    /// Is asked by libavformat during long reads; must outlive the context.
    private let clock: SourceClock

    var trackCount: Int? { tracks.count }

    convenience init(_ configuration: MediaFileConfiguration, clock: SourceClock) throws(MediaSourceError) {
        // It knows a missing file, a directory and an empty file by name.
        try self.init(
            try FileBytes(path: configuration.path), named: configuration.path, limits: nil,
            transcoding: configuration.transcoding, clock: clock)
    }

    /// What libavformat may do with bytes that anybody may have made.
    struct Limits {
        /// The only containers that are read, by libavformat's names.
        var formats: String
        /// The only decoders that may look into frames, by libavcodec's names.
        var decoders: String
        /// Tracks at most.
        var tracks: Int
    }

    /// - Parameters:
    ///   - name: what messages call it; of a file, also a hint at its format.
    ///   - limits: nil: it reads all that it knows.
    ///   - damagedHint: what is to be done when it cannot be read.
    init(
        _ bytes: any ByteSource, named name: String, limits: Limits?,
        transcoding: MediaFileConfiguration.Transcoding?, damagedHint: String = ContainerInput.damagedHint,
        clock: SourceClock
    ) throws(MediaSourceError) {
        path = name
        self.damagedHint = damagedHint
        self.clock = clock
        input = InputBytes(bytes)
        do throws(VideoCodecError) {
            try Libav.load(WB_LIBRARY_AVFORMAT)
        } catch {
            throw MediaSourceError(
                what: "cannot open \(name)", why: "\(error)", hint: "Then start again.")
        }
        guard let packet = wb_av_packet_alloc() else { throw Self.outOfMemory(path) }
        self.packet = packet
        try open(limits)
        try selectTracks(transcoding)
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        wb_av_packet_free(&packet)
        wb_avformat_close_input(&context)
    }

    func next() throws(MediaSourceError) -> [MediaEvent]? {
        if !startEvents.isEmpty {
            defer { startEvents = [] }
            return startEvents
        }
        guard !isAtEnd else { return nil }
        Libav.takeLog()
        let code = wb_av_read_frame(context, packet)
        try checkInput()
        if code == wb_averror_eof() || code == wb_averror_exit() {
            isAtEnd = true
            return try finishTracks()
        }
        guard code >= 0 else {
            throw MediaSourceError(
                what: "cannot read \(path)", why: Libav.message(for: code), hint: damagedHint)
        }
        defer { wb_av_packet_unref(packet) }
        guard let track = tracks[packet.pointee.stream_index] else { return [] }
        if packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 {
            // A stream that was received loses packets, and goes on; the damaged frame is not handed to a decoder.
            if isTransportStream { return [] }
            throw MediaSourceError(
                what: "cannot read \(path)", why: "the file ends within a frame", hint: damagedHint)
        }
        do throws(TrackFailure) {
            return try track.take(packet)
        } catch {
            // The last frame of a recording that was cut off is not always marked as damaged.
            if isTransportStream, error.isTruncation { return [] }
            throw failure(error)
        }
    }

    func requestKeyFrame() {
        for track in tracks.values { track.requestKeyFrame() }
    }

    private var isTransportStream: Bool {
        guard let name = context?.pointee.iformat?.pointee.name else { return false }
        return String(cString: name) == "mpegts"
    }

    private func finishTracks() throws(MediaSourceError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        do throws(TrackFailure) {
            for (_, track) in tracks.sorted(by: { $0.key < $1.key }) { events += try track.finish() }
        } catch {
            throw failure(error)
        }
        return events
    }

    /// What could not be read is the reason, whatever libavformat makes of it: it takes some failures for the end.
    private func checkInput() throws(MediaSourceError) {
        if let failure = input.failure { throw failure }
    }

    private func open(_ limits: Limits?) throws(MediaSourceError) {
        context = wb_avformat_alloc_context()
        guard let context, let reader = input.openContext() else { throw Self.outOfMemory(path) }
        context.pointee.pb = reader
        context.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                return Unmanaged<SourceClock>.fromOpaque(opaque).takeUnretainedValue().isStopped ? 1 : 0
            }, opaque: Unmanaged.passUnretained(clock).toOpaque())
        var options: OpaquePointer?
        defer { wb_av_dict_free(&options) }
        // A playlist or a manifest must not make us read from elsewhere: no protocol has this name.
        _ = wb_av_dict_set(&options, "protocol_whitelist", "none", 0)
        if let limits {
            _ = wb_av_dict_set(&options, "format_whitelist", limits.formats, 0)
            // Also of those that avformat_find_stream_info opens.
            _ = wb_av_dict_set(&options, "codec_whitelist", limits.decoders, 0)
            _ = wb_av_dict_set(&options, "max_streams", "\(limits.tracks)", 0)
        }
        Libav.takeLog()
        // The name hints at the format, and nothing is opened by it. Frees the context when it fails.
        var code = wb_avformat_open_input(&self.context, "file:" + path, nil, &options)
        if code >= 0 { code = wb_avformat_find_stream_info(self.context, nil) }
        try checkInput()
        guard code >= 0 else {
            throw MediaSourceError(
                what: "cannot open \(path)", why: Libav.message(for: code), hint: damagedHint)
        }
    }

    private func selectTracks(_ transcoding: MediaFileConfiguration.Transcoding?) throws(MediaSourceError) {
        guard let context, let streams = context.pointee.streams else { return }
        let all = (0..<Int(context.pointee.nb_streams)).compactMap { streams[$0] }
        let video = Self.best(AVMEDIA_TYPE_VIDEO, of: all)
        let audio = Self.best(AVMEDIA_TYPE_AUDIO, of: all)
        guard video != nil || audio != nil else {
            throw MediaSourceError(
                what: "cannot play \(path)", why: "it holds neither video nor audio",
                hint: "Name a file with video or audio in it.")
        }
        for stream in all where stream != video && stream != audio { stream.pointee.discard = AVDISCARD_ALL }
        do throws(TrackFailure) {
            if let video {
                hasVideo = true
                try addVideo(video, transcoding)
            }
            if let audio { try addAudio(audio, transcoding) }
        } catch {
            throw failure(error)
        }
    }

    private func addVideo(
        _ stream: UnsafeMutablePointer<AVStream>, _ transcoding: MediaFileConfiguration.Transcoding?
    ) throws(TrackFailure) {
        if let track = PassedVideoTrack(stream) {
            tracks[stream.pointee.index] = track
            startEvents += try track.start(stream)
        } else if let transcoding {
            tracks[stream.pointee.index] = try TranscodedVideoTrack(stream, transcoding)
        } else {
            throw .unsupported(codec: UnsafePointer(stream.pointee.codecpar).codecName, kind: "video")
        }
    }

    private func addAudio(
        _ stream: UnsafeMutablePointer<AVStream>, _ transcoding: MediaFileConfiguration.Transcoding?
    ) throws(TrackFailure) {
        if let track = PassedAudioTrack(stream) {
            tracks[stream.pointee.index] = track
            startEvents += try track.start(stream)
        } else if let transcoding {
            tracks[stream.pointee.index] = try TranscodedAudioTrack(stream, transcoding)
        } else {
            throw .unsupported(codec: UnsafePointer(stream.pointee.codecpar).codecName, kind: "audio")
        }
    }

    /// The one that the file declares as default, or else the first. A cover image is not video.
    private static func best(
        _ type: AVMediaType, of streams: [UnsafeMutablePointer<AVStream>]
    ) -> UnsafeMutablePointer<AVStream>? {
        let fitting = streams.filter {
            $0.pointee.codecpar.pointee.codec_type == type
                && $0.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
        }
        return fitting.first { $0.pointee.disposition & AV_DISPOSITION_DEFAULT != 0 } ?? fitting.first
    }

    private func failure(_ failure: TrackFailure) -> MediaSourceError {
        switch failure {
        case .damaged(let error):
            MediaSourceError(what: "cannot read \(path)", why: "\(error)", hint: damagedHint)
        case .coding(let error):
            MediaSourceError(
                what: "cannot transcode \(path)", why: "\(error)",
                hint: "Convert the file first (ffmpeg -i IN -c:v libx264 -c:a aac OUT.mp4).")
        case .unsupported(let codec, let kind):
            MediaSourceError(
                what: "cannot play \(path)", why: "its \(kind) is \(codec)", hint: UnsupportedTrack.hint)
        case .untimed:
            MediaSourceError(
                what: "cannot play \(path)", why: "its frames are out of order and have no time stamps",
                hint: "Put the stream into a container when it is recorded (MP4, MKV or MPEG-TS).")
        }
    }

    private static func outOfMemory(_ path: String) -> MediaSourceError {
        MediaSourceError(what: "cannot open \(path)", why: "out of memory", hint: "Free some memory.")
    }

    static let damagedHint =
        "Check that it plays (ffprobe FILE); a recording that was cut off must be repaired first."
}
