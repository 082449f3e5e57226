internal import CAVCodec
public import Media

/// Turns frames into encoded access units with the first of a list of libavcodec encoders that opens here.
///
/// The encoder works for live video: no B-frames, so that a unit's decode time is its presentation time, and each
/// frame comes out as soon as the encoder can give it. Used by one thread at a time, but for its heartbeat.
public final class VideoEncoder {
    /// Which encoder works, and why that one.
    public struct Choice: Equatable, Sendable {
        /// FFmpeg's name: "libx264".
        public var encoder: String
        public var codec: VideoCodec
        /// "first of libx264, libopenh264", or why earlier ones were passed over.
        public var reason: String
    }

    public private(set) var choice: Choice
    public private(set) var configuration: VideoEncoderConfiguration

    /// What a decoder must know; nil until the encoder has reported it, which some hardware does with its first frame.
    public var format: VideoFormat? { output.format }

    /// Shows whether a call into libavcodec runs, and since when.
    public let heartbeat: EncoderHeartbeat

    /// Inside libavcodec.
    public private(set) var encodeNanoseconds = EncoderTime()

    /// Nil: to be opened at the next frame.
    private var codecContext: CodecContext?
    private var traits: EncoderTraits
    private var output: EncoderOutput
    private var isReopeningNeeded = false
    /// The rate fell, and the next frame is the first that knows.
    private var spendsNothing = false
    private var spare: AlignedFrame?
    private var realigned: UInt64 = 0
    private var openings: UInt64 = 1
    /// As they were named when `choice` was made.
    private var namedEncoders: [String]
    /// Of an encoder that was closed, for which the next could not be opened.
    private var undelivered: [MediaEvent] = []
    private var lastTick = Int64.min
    /// Time of the first frame since opening.
    private var origin: MediaTime?

    /// Each lets a V4L2 driver work off one of its buffers.
    private static let maxAttempts = 32

    /// - Throws: `.noEncoder` with the reason for each of `configuration.encoders` if none opens.
    public init(
        _ configuration: VideoEncoderConfiguration, heartbeat: EncoderHeartbeat = EncoderHeartbeat()
    ) throws(VideoCodecError) {
        try configuration.validate()
        try Libav.load(WB_LIBRARY_AVCODEC)
        let opening = try heartbeat.during { () throws(VideoCodecError) in try EncoderOpening(configuration) }
        self.heartbeat = heartbeat
        self.configuration = configuration
        codecContext = opening.codecContext
        choice = opening.choice
        namedEncoders = configuration.encoders
        traits = EncoderTraits(name: opening.choice.encoder)
        output = EncoderOutput(
            codec: opening.choice.codec, frameRate: configuration.frameRate,
            keyFrameInterval: MediaTime(seconds: configuration.keyFrameInterval))
        try output.opened(
            codec: opening.choice.codec, frameRate: configuration.frameRate, extradata: opening.codecContext.extradata)
    }

    deinit {
        // Closing a device can last for ever, too.
        heartbeat.during { codecContext = nil }
    }

    /// Bytes of which the length of a frame's rows should be a multiple; chroma's rows exactly half as long.
    public var lineAlignment: Int { traits.lineAlignment(configuration.pixelFormat) }

    /// What `encode` takes, best first.
    public var acceptedPixelFormats: [PixelFormat] { traits.pixelFormats(openedWith: configuration.pixelFormat) }

    public var counters: EncoderCounters {
        var counters = EncoderCounters()
        counters.errors = output.ledger.errors
        counters.drops = output.ledger.drops
        counters.unmatched = output.ledger.unmatched
        counters.forcedKeyFrames = output.forcedKeyFrames
        counters.realigned = realigned
        counters.openings = openings
        return counters
    }

    /// The next frame becomes one that a decoder can begin with.
    public func requestKeyFrame() {
        output.clock.request()
    }

    /// Whether an encoder, by FFmpeg's name, takes another rate while it runs; others are opened again for it.
    public static func followsRate(_ encoder: String) -> Bool { EncoderTraits(name: encoder).followsRate }

    /// Changes the rate from the next frame on. An encoder that cannot do that while it runs is opened again, which
    /// costs a key frame.
    public func setBitsPerSecond(_ bitsPerSecond: Int) throws(VideoCodecError) {
        var changed = configuration
        changed.bitsPerSecond = bitsPerSecond
        try reconfigure(changed)
    }

    /// Changes what is asked for, from the next frame on.
    ///
    /// The rate in bits of libx264, and the distance of key frames of software encoders, change while they run. For all
    /// else the encoder is opened again at the next frame, which is then a key frame; what a software encoder held
    /// back comes out before, and what a V4L2 encoder still has is lost and counted. When other encoders are named than
    /// before, the first of them that opens takes over. Pixel format, range and matrix follow the frames, whatever
    /// `configuration` says of them.
    ///
    /// - Throws: for a value out of range; then nothing changes.
    public func reconfigure(_ configuration: VideoEncoderConfiguration) throws(VideoCodecError) {
        try configuration.validate()
        let old = self.configuration
        var new = configuration
        new.pixelFormat = old.pixelFormat
        new.isFullRange = old.isFullRange
        new.colorMatrix = old.colorMatrix
        var live = old
        if traits.followsRate { live.bitsPerSecond = new.bitsPerSecond }
        if traits.isSoftware { live.keyFrameInterval = new.keyFrameInterval }
        if live != new { isReopeningNeeded = true }
        self.configuration = new
        output.clock.interval = MediaTime(seconds: new.keyFrameInterval)
        if traits.followsRate, !isReopeningNeeded, let codecContext {
            // What was saved at the old rate would be spent in the next half second: nearly twice a rate that is a sixth
            // of it. A buffer that is small for one frame has no room for it.
            spendsNothing = new.bitsPerSecond < old.bitsPerSecond
            EncoderOpening.setRate(codecContext.context, new, evenedOver: spendsNothing ? 0.2 : 0.5)
        }
    }

    /// Encodes one frame.
    ///
    /// - Parameter frame: of the configured size, and one of the accepted pixel formats; software encoders are opened
    ///   again for another format, range or matrix than that of the frame before. Its pixels are not changed.
    /// - Parameter presentationTime: comes back, exactly, with the unit; must grow.
    /// - Parameter captureInstant: comes back with the unit.
    /// - Returns: the units that are ready, in decoding order, with the format before the first unit that needs it.
    public func encode(
        _ frame: borrowing VideoFrame, at presentationTime: MediaTime, captureInstant: UInt64? = nil
    ) throws(VideoCodecError) -> [MediaEvent] {
        guard
            frame.width == configuration.width, frame.height == configuration.height,
            acceptedPixelFormats.contains(frame.pixelFormat)
        else {
            throw .frameMismatch(
                expected: "\(configuration.width)x\(configuration.height)", actual: frame.description)
        }
        try follow(frame)
        encodeNanoseconds.last = 0
        let codecContext = try openedEncoder()
        defer { if spendsNothing { evenOut() } }
        let avFrame = try aligned(frame)
        let tick = nextTick(presentationTime)
        let isKeyFrame = output.sending(
            EncoderLedger.Frame(presentationTime: presentationTime, captureInstant: captureInstant), at: tick)
        avFrame.pointee.pts = tick
        avFrame.pointee.pict_type = isKeyFrame ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        var events: [MediaEvent] = []
        var outcome = timed { codecContext.send(avFrame: avFrame) }
        var attempts = 0
        while outcome == .full, attempts < Self.maxAttempts {
            events += try receive(codecContext)
            outcome = timed { codecContext.send(avFrame: avFrame) }
            attempts += 1
        }
        switch outcome {
        case .taken:
            events += try receive(codecContext)
            // How libavcodec's wrapper takes it when a V4L2 driver fails.
            if codecContext.isAtEnd { throw .malformedOutput("the encoder ended its stream by itself") }
        case .full: throw .malformedOutput("the encoder accepts no frame and returns no packet")
        case .failed(let error): throw error
        }
        let waiting = output.ledger.waiting
        if waiting >= EncoderLedger.maxDelay {
            throw .malformedOutput("\(waiting) frames went in, and no packet came out")
        }
        defer { undelivered = [] }
        return undelivered + events
    }

    /// After the first frame of a lower rate.
    private func evenOut() {
        spendsNothing = false
        if let codecContext { EncoderOpening.setRate(codecContext.context, configuration) }
    }

    /// Ends the stream: what the encoder held back. Then it is closed; a further frame opens it again.
    ///
    /// A V4L2 driver may leave out the last frames here, or never answer. To merely stop, let go of the
    /// encoder, or ends the process.
    public func finish() throws(VideoCodecError) -> [MediaEvent] {
        try close(draining: true)
        defer { undelivered = [] }
        return undelivered
    }

    /// Has the encoder opened again when what it says of its frames in the stream would not be true of this one.
    private func follow(_ frame: borrowing VideoFrame) throws(VideoCodecError) {
        var requested = configuration
        requested.pixelFormat = frame.pixelFormat
        if traits.isSoftware {
            requested.isFullRange = frame.isFullRange
            let height = configuration.height
            if frame.matrix.resolved(height: height) != configuration.colorMatrix.resolved(height: height) {
                requested.colorMatrix = frame.matrix
            }
        } else if frame.isFullRange {
            // The wrapper would encode the samples as if they had the limited range.
            throw .unsupportedFrame(
                what: "encoding with \(choice.encoder)", frame: "\(frame.description), full range")
        }
        guard requested != configuration else { return }
        configuration = requested
        isReopeningNeeded = true
    }

    private func openedEncoder() throws(VideoCodecError) -> CodecContext {
        if let codecContext, !isReopeningNeeded, !output.isReopeningNeeded { return codecContext }
        // A driver that does not know the end of a stream would never answer, and count as hung. What was ready came
        // out with the last frame; what is not is counted as dropped.
        try close(draining: !traits.isM2M)
        var requested = configuration
        if requested.encoders == namedEncoders { requested.encoders = [choice.encoder] }
        let opening = try heartbeat.during { () throws(VideoCodecError) in try EncoderOpening(requested) }
        codecContext = opening.codecContext
        if requested.encoders == configuration.encoders { choice = opening.choice }
        namedEncoders = configuration.encoders
        traits = EncoderTraits(name: choice.encoder)
        openings += 1
        isReopeningNeeded = false
        try output.opened(
            codec: choice.codec, frameRate: configuration.frameRate, extradata: opening.codecContext.extradata)
        return opening.codecContext
    }

    /// The encoder is closed, whatever it says.
    ///
    /// - Parameter isDraining: what it held back is kept in `undelivered`; else lost, and counted.
    private func close(draining isDraining: Bool) throws(VideoCodecError) {
        var failure: VideoCodecError?
        if isDraining {
            do throws(VideoCodecError) {
                try drain()
            } catch {
                failure = error
            }
        }
        heartbeat.during { codecContext = nil }
        output.ended()
        lastTick = .min
        origin = nil
        // A device that fails at its end has failed before; what is missing is counted.
        if let failure, !traits.isM2M { throw failure }
    }

    private func drain() throws(VideoCodecError) {
        guard let codecContext else { return }
        var outcome = heartbeat.during { codecContext.send(avFrame: nil) }
        if outcome == .full {
            undelivered += try receive(codecContext)
            outcome = heartbeat.during { codecContext.send(avFrame: nil) }
        }
        if case .failed(let error) = outcome { throw error }
        undelivered += try receive(codecContext)
    }

    private func receive(_ codecContext: CodecContext) throws(VideoCodecError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        while try timed({ () throws(VideoCodecError) in try codecContext.receivePacket() }) {
            let packet = codecContext.packet.pointee
            let isFlagged = packet.flags & AV_PKT_FLAG_CORRUPT != 0
            let tick = packet.pts
            let bytes = UnsafeRawBufferPointer(
                start: packet.data, count: packet.data == nil ? 0 : Int(max(packet.size, 0)))
            let encoded = EncodedPacket(bytes.bytes, codec: choice.codec)
            let extradata = codecContext.newExtradata
            // The packet may lie in a buffer that the driver needs for the next frame.
            wb_av_packet_unref(codecContext.packet)
            events += try output.received(encoded, at: tick, isFlagged: isFlagged, extradata: extradata)
        }
        return events
    }

    /// The frame as it is, or a copy with the rows that the encoder needs.
    private func aligned(
        _ frame: borrowing VideoFrame
    ) throws(VideoCodecError) -> UnsafeMutablePointer<AVFrame> {
        guard traits.isM2M, !AlignedFrame.isAligned(frame, alignment: lineAlignment) else { return frame.avFrame }
        let kept = spare
        let copy: AlignedFrame
        if let kept, kept.isFree, kept.fits(frame) {
            copy = kept
        } else {
            copy = try AlignedFrame(
                width: configuration.width, height: configuration.height, pixelFormat: configuration.pixelFormat,
                alignment: lineAlignment)
            spare = copy
        }
        try copy.copy(frame)
        realigned += 1
        return copy.frame.avFrame
    }

    /// The time stamp that a frame has inside the encoder.
    private func nextTick(_ time: MediaTime) -> Int64 {
        var requested = time.ticks(timescale: traits.ticksPerSecond)
        if traits.isM2M {
            // From a second on: time stamp 0 is that of packets of no frame.
            let first = origin ?? time
            origin = first
            let ticks = (time - first).ticks(timescale: traits.ticksPerSecond)
            requested = ticks.addingReportingOverflow(traits.ticksPerSecond).partialValue
        }
        let tick = max(requested, lastTick &+ 1)
        lastTick = tick
        return tick
    }

    private func timed<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let begin = SourceClock.now
        defer {
            let nanoseconds = SourceClock.now &- begin
            encodeNanoseconds.last &+= nanoseconds
            encodeNanoseconds.total &+= nanoseconds
        }
        return try heartbeat.during(body)
    }
}
