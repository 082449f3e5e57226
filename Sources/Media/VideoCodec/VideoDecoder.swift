internal import CAVCodec
public import Media

/// Turns encoded access units back into frames, and counts what does not decode. Used by one thread at a time.
public final class VideoDecoder {
    /// What a decoder could do with what it was given.
    public struct Verdict: Equatable, Sendable {
        /// Access units handed in.
        public var units = 0
        /// Units that the decoder refused.
        public var errors = 0
        /// Frames that came out.
        public var frames = 0
        /// Of these, the ones that the decoder itself declares incomplete or partly invented.
        public var damagedFrames = 0

        public init() {}
    }

    public private(set) var verdict = Verdict()
    /// libav's message for the last unit that it refused.
    public private(set) var lastError: VideoCodecError?

    private let codecContext: CodecContext
    private let frame: VideoFrame

    /// - Parameter maxPixels: of a frame; larger ones are refused. Nil: as libavcodec does.
    public init(_ format: VideoFormat, maxPixels: Int? = nil) throws(VideoCodecError) {
        let id = format.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        let codecContext = try CodecContext.unopenedDecoder(id)
        try codecContext.setExtradata(format.configurationRecord)
        // Several threads would hold frames back.
        codecContext.context.pointee.thread_count = 1
        if let maxPixels { codecContext.context.pointee.max_pixels = Int64(maxPixels) }
        codecContext.context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000_000)
        try codecContext.open()
        self.codecContext = codecContext
        frame = try VideoFrame()
    }

    /// Decodes one unit.
    ///
    /// A unit that does not decode is counted, and nothing is thrown: the next key frame may decode again.
    ///
    /// - Parameter body: gets each frame that is ready, with its presentation time, in presentation order.
    public func decode(
        _ unit: AccessUnit, _ body: (borrowing VideoFrame, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        verdict.units += 1
        try codecContext.fillPacket(unit.data)
        codecContext.packet.pointee.pts = unit.presentationTime.nanoseconds
        codecContext.packet.pointee.dts = unit.decodeTime.nanoseconds
        if unit.isKeyFrame { codecContext.packet.pointee.flags |= AV_PKT_FLAG_KEY }
        var outcome = codecContext.send(packet: codecContext.packet)
        if outcome == .full {
            try receive(body)
            outcome = codecContext.send(packet: codecContext.packet)
        }
        if case .failed(let error) = outcome { count(error) }
        try receive(body)
    }

    /// Ends the stream: the frames that the decoder held back.
    public func finish(
        _ body: (borrowing VideoFrame, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        if case .failed(let error) = codecContext.send(packet: nil) { count(error) }
        try receive(body)
    }

    private func receive(
        _ body: (borrowing VideoFrame, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        while true {
            do throws(VideoCodecError) {
                guard try codecContext.receiveFrame(into: frame.avFrame) else { return }
            } catch {
                count(error)
                return
            }
            defer { wb_av_frame_unref(frame.avFrame) }
            verdict.frames += 1
            if wb_frame_is_damaged(frame.avFrame) { verdict.damagedFrames += 1 }
            try body(frame, MediaTime(nanoseconds: frame.avFrame.pointee.pts))
        }
    }

    private func count(_ error: VideoCodecError) {
        verdict.errors += 1
        lastError = error
    }
}
