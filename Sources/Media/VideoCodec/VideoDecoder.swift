internal import CAVCodec
public import Media

/// Turns coded access units back into pictures, and counts what does not decode. Used by one thread at a time.
public final class VideoDecoder {
    /// What a decoder could do with what it was given.
    public struct Verdict: Equatable, Sendable {
        /// Access units handed in.
        public var units = 0
        /// Units that the decoder refused.
        public var errors = 0
        /// Pictures that came out.
        public var pictures = 0
        /// Of these, the ones that the decoder itself declares incomplete or partly invented.
        public var damagedPictures = 0

        public init() {}
    }

    public private(set) var verdict = Verdict()
    /// libav's words for the last unit that it refused.
    public private(set) var lastError: VideoCodecError?

    private let coder: CodecContext
    private let picture: RawPicture

    /// - Parameter mostPixels: of a picture; larger ones are refused. Nil: as libavcodec does.
    public init(_ format: VideoFormat, mostPixels: Int? = nil) throws(VideoCodecError) {
        let id = format.codec == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC
        let coder = try CodecContext.unopenedDecoder(id)
        try coder.setExtradata(format.configurationRecord)
        // Several threads would hold pictures back.
        coder.context.pointee.thread_count = 1
        if let mostPixels { coder.context.pointee.max_pixels = Int64(mostPixels) }
        coder.context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000_000)
        try coder.open()
        self.coder = coder
        picture = try RawPicture()
    }

    /// Decodes one unit.
    ///
    /// A unit that does not decode is counted, and nothing is thrown: the next key frame may be sound.
    ///
    /// - Parameter body: gets each picture that is ready, with its presentation time, in presentation order.
    public func decode(
        _ unit: AccessUnit, _ body: (borrowing RawPicture, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        verdict.units += 1
        try coder.fillPacket(unit.data)
        coder.packet.pointee.pts = unit.presentationTime.nanoseconds
        coder.packet.pointee.dts = unit.decodeTime.nanoseconds
        if unit.isKeyFrame { coder.packet.pointee.flags |= AV_PKT_FLAG_KEY }
        var outcome = coder.send(packet: coder.packet)
        if outcome == .full {
            try receive(body)
            outcome = coder.send(packet: coder.packet)
        }
        if case .failed(let error) = outcome { count(error) }
        try receive(body)
    }

    /// Ends the stream: the pictures that the decoder held back.
    public func finish(
        _ body: (borrowing RawPicture, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        if case .failed(let error) = coder.send(packet: nil) { count(error) }
        try receive(body)
    }

    private func receive(
        _ body: (borrowing RawPicture, MediaTime) throws(VideoCodecError) -> Void
    ) throws(VideoCodecError) {
        while true {
            do throws(VideoCodecError) {
                guard try coder.receiveFrame(into: picture.frame) else { return }
            } catch {
                count(error)
                return
            }
            defer { wb_av_frame_unref(picture.frame) }
            verdict.pictures += 1
            if wb_frame_is_damaged(picture.frame) { verdict.damagedPictures += 1 }
            try body(picture, MediaTime(nanoseconds: picture.frame.pointee.pts))
        }
    }

    private func count(_ error: VideoCodecError) {
        verdict.errors += 1
        lastError = error
    }
}
