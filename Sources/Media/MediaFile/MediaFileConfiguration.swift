/// How a `MediaFileSource` reads its file.
public struct MediaFileConfiguration: Equatable, Sendable {
    public enum Pace: Equatable, Sendable {
        /// Each unit at its decode time, counted from the first one's.
        case realTime
        /// As fast as it is taken.
        case unthrottled
    }

    /// What tracks become that cannot be passed through.
    public struct Transcoding: Equatable, Sendable {
        public var videoBitsPerSecond: Int
        public var audioBitsPerSecond: Int
        /// FFmpeg's names, in the order in which they are tried.
        public var encoders: [String]
        public var preset: String
        /// Seconds.
        public var keyFrameInterval: Double

        public init(
            videoBitsPerSecond: Int = 2_000_000, audioBitsPerSecond: Int = 128_000,
            encoders: [String] = ["libx264", "libopenh264"], preset: String = "veryfast",
            keyFrameInterval: Double = 2
        ) {
            self.videoBitsPerSecond = videoBitsPerSecond
            self.audioBitsPerSecond = audioBitsPerSecond
            self.encoders = encoders
            self.preset = preset
            self.keyFrameInterval = keyFrameInterval
        }
    }

    public var path: String
    public var pace: Pace
    /// Begins again at the end of the file, until `stop()` or the limit.
    public var isLooped: Bool
    /// Ends after this many seconds of the stream's time.
    public var durationLimit: Double?
    /// Nil: a track that is not H.264, H.265 or AAC is an error.
    public var transcoding: Transcoding?

    public init(
        path: String, pace: Pace = .realTime, isLooped: Bool = false, durationLimit: Double? = nil,
        transcoding: Transcoding? = nil
    ) {
        self.path = path
        self.pace = pace
        self.isLooped = isLooped
        self.durationLimit = durationLimit
        self.transcoding = transcoding
    }
}
