/// What is recorded, as `archive list` and the API say it. Times are ISO 8601, UTC.
public struct RecordingsDocument: Codable, Equatable, Sendable {
    public struct Span: Codable, Equatable, Sendable {
        public var from: String
        public var to: String
        /// Of media.
        public var seconds: Double
        public var bytes: Int64
        public var files: Int

        public init(from: String, to: String, seconds: Double, bytes: Int64, files: Int) {
            self.from = from
            self.to = to
            self.seconds = seconds
            self.bytes = bytes
            self.files = files
        }
    }

    /// Between two spans.
    public struct Gap: Codable, Equatable, Sendable {
        public var from: String
        public var to: String
        public var seconds: Double

        public init(from: String, to: String, seconds: Double) {
            self.from = from
            self.to = to
            self.seconds = seconds
        }
    }

    /// Where a span ends because the box's clock was set back while it recorded.
    public struct ClockStep: Codable, Equatable, Sendable {
        public var from: String
        public var to: String

        public init(from: String, to: String) {
            self.from = from
            self.to = to
        }
    }

    public struct File: Codable, Equatable, Sendable {
        public var file: String
        public var from: String
        public var to: String
        public var bytes: Int64
        public var pinned: Bool

        public init(file: String, from: String, to: String, bytes: Int64, pinned: Bool) {
            self.file = file
            self.from = from
            self.to = to
            self.bytes = bytes
            self.pinned = pinned
        }
    }

    /// Of one camera; of the API a page of it.
    public struct Camera: Codable, Equatable, Sendable {
        public var camera: String
        /// Whether something is recorded now that may be of the time asked for: it is not in the spans yet.
        public var recordsNow = false
        /// Recordings that a power cut left: they are finished when the camera is recorded again.
        public var unfinished = 0
        public var seconds = 0.0
        public var bytes: Int64 = 0
        public var files = 0
        public var pinned = 0
        /// The first time and the last of what is listed; nil: nothing is.
        public var from: String?
        public var to: String?
        public var spans: [Span] = []
        /// Of a page also the one in front of it, since the recording that was made before.
        public var gaps: [Gap] = []
        public var clockSteps: [ClockStep] = []
        /// Of what is listed the parts that did not get to the relay: whoever watched live has not seen them.
        public var notLive: [Gap] = []
        /// Each of them; of `archive list` with `--files`.
        public var recordings: [File]?
        /// Of a page: the file behind which the next one begins (`after`); nil: there is none.
        public var next: String?

        /// Nothing is listed.
        public init(camera: String, recordings: [File]? = nil) {
            self.camera = camera
            self.recordings = recordings
        }
    }

    public var schema = "watchbox.recordings/1"
    public var directory: String
    public var cameras: [Camera]

    public init(directory: String, cameras: [Camera]) {
        self.directory = directory
        self.cameras = cameras
    }
}
