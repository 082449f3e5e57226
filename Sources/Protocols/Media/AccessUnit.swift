/// One encoded video or audio frame, with all that the way from camera to viewer needs to know of it.
public struct AccessUnit: Equatable, Sendable {
    public enum Track: Hashable, Sendable {
        case video(VideoCodec)
        case audio(AudioCodec)

        public var isVideo: Bool {
            if case .video = self { true } else { false }
        }
    }

    public var track: Track

    /// A decoder can begin here (IDR, or IRAP for HEVC). Every audio frame is one.
    public var isKeyFrame: Bool

    public var presentationTime: MediaTime

    /// When a decoder takes it; never decreases within a track.
    public var decodeTime: MediaTime

    /// Video: NAL units, each behind its 4-byte big-endian length (ISO/IEC 14496-15). Audio: one raw AAC frame, no
    /// ADTS.
    public var data: [UInt8]

    /// When the frame was captured: CLOCK_MONOTONIC in nanoseconds on this machine; of what came over a network, when
    /// it arrived. Nil where that is unknown.
    public var captureInstant: UInt64?

    public init(
        track: Track, isKeyFrame: Bool, presentationTime: MediaTime, decodeTime: MediaTime, data: [UInt8],
        captureInstant: UInt64? = nil
    ) {
        self.track = track
        self.isKeyFrame = isKeyFrame
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.data = data
        self.captureInstant = captureInstant
    }
}
