/// What a camera process can say of a camera on the network. All counts begin with the process and never go back.
public struct NetworkStatistics: Codable, Equatable, Sendable {
    /// What a camera is doing as far as its process knows.
    public enum State: String, Codable, Sendable, CaseIterable {
        case connecting
        /// Key frames arrive.
        case live
        /// Connected, and no video arrives.
        case stalled
        /// Until the next attempt (`CaptureStatistics.reason` says why).
        case waiting
        /// The camera refuses user and password; tried again seldom, because cameras lock accounts.
        case refused
    }

    /// One thing that a camera announced by itself.
    public struct Event: Codable, Equatable, Sendable {
        /// Counts from 1 within the process.
        public var number: UInt64
        /// `motion`, `tamper` or `digitalInput` (`SensorEvent.Kind`), or the topic's last part.
        public var kind: String
        /// ONVIF's topic: `tns1:RuleEngine/CellMotionDetector/Motion`.
        public var topic: String
        /// Whether it began (true) or ended (false); nil for one without duration.
        public var isActive: Bool?
        /// The camera's own name for what it comes from; nil when it gave none.
        public var source: String?
        /// Microseconds since 1970 by this box's clock, when it arrived.
        public var realtimeMicroseconds: Int64

        public init(
            number: UInt64, kind: String, topic: String, isActive: Bool?, source: String? = nil,
            realtimeMicroseconds: Int64
        ) {
            self.source = source
            self.number = number
            self.kind = kind
            self.topic = topic
            self.isActive = isActive
            self.realtimeMicroseconds = realtimeMicroseconds
        }
    }

    /// What was learned of an ONVIF device: goes into the camera store.
    public struct Device: Codable, Equatable, Sendable {
        public var manufacturer: String?
        public var model: String?
        public var firmware: String?
        public var serial: String?
        public var mac: String?
        public var endpoint: String?
        public var profiles: [Profile] = []
        public var hasPTZ = false
        public var hasEvents = false

        public init() {}
    }

    /// One stream that a camera offers.
    public struct Profile: Codable, Equatable, Sendable {
        /// The camera's own name for it.
        public var token: String
        public var name: String
        /// `media` or `media2`: the ONVIF service that reported it.
        public var service: String
        /// Without user and password; nil when the camera did not report it.
        public var url: String?
        public var snapshotURL: String?
        /// FFmpeg's name, in lower case: `h264`, `hevc`, `mjpeg`.
        public var codec: String?
        public var width: Int?
        public var height: Int?
        /// Frames per second.
        public var rate: Double?
        /// Bits per second.
        public var bitrate: Int?
        /// Frames from one key frame to the next.
        public var gop: Int?
        public var hasPTZ: Bool

        public init(
            token: String, name: String, service: String, url: String? = nil, snapshotURL: String? = nil,
            codec: String? = nil, width: Int? = nil, height: Int? = nil, rate: Double? = nil, bitrate: Int? = nil,
            gop: Int? = nil, hasPTZ: Bool = false
        ) {
            self.token = token
            self.name = name
            self.service = service
            self.url = url
            self.snapshotURL = snapshotURL
            self.codec = codec
            self.width = width
            self.height = height
            self.rate = rate
            self.bitrate = bitrate
            self.gop = gop
            self.hasPTZ = hasPTZ
        }
    }

    /// Where the times of frames or of audio come from.
    public struct Timing: Codable, Equatable, Sendable {
        public enum Basis: String, Codable, Sendable, CaseIterable {
            /// The camera's time stamps.
            case camera
            /// The same, which run slow or fast: corrected by the rate that was measured.
            case corrected
            /// When they arrive.
            case arrival
        }

        public var basis: Basis
        /// By the camera's time stamps so many seconds pass in one of this box's: 0.84 is 16 % slow. Only of
        /// `corrected`.
        public var speed: Double?

        public init(basis: Basis, speed: Double? = nil) {
            self.basis = basis
            self.speed = speed
        }
    }

    public var state: State = .connecting
    /// Of the stream that is pulled: without user and password, the query kept.
    public var url: String?
    /// As the camera was reached: IP address and port.
    public var address: String?
    public var port: Int?
    /// `tcp`, `udp` or `multicast`.
    public var transport: String?
    /// How it was logged in: `none`, `Basic`, `Digest MD5`, `Digest SHA-256`.
    public var authentication: String?
    /// Of its certificate's public key, as `CameraConfiguration.Network.pin`; nil without TLS.
    public var pin: String?
    /// Of the certificate of its ONVIF service, which may be another one.
    public var servicePin: String?
    /// What the camera calls itself (RTSP's Server).
    public var server: String?
    /// `h264`, `hevc` or `mjpeg`, as it comes.
    public var videoCodec: String?
    /// `aac`, `pcmu` or `pcma`; nil: no audio, or none that is taken.
    public var audioCodec: String?
    public var profile: String?
    /// Attempts to connect, and of these the ones that brought frames.
    public var attempts: UInt64 = 0
    public var connections: UInt64 = 0
    /// Frames stopped though the connection stood.
    public var stalls: UInt64 = 0
    /// RTP packets: arrived, missing in the count, out of order, not belonging to this stream or malformed.
    public var packets: UInt64 = 0
    public var lost: UInt64 = 0
    public var reordered: UInt64 = 0
    public var discarded: UInt64 = 0
    /// Frames left out because a part of them was lost.
    public var damaged: UInt64 = 0
    /// Steps of the camera's clock that were not time: each began a new timeline.
    public var timelines: UInt64 = 0
    /// Of the newest attempt that succeeded: connect to the first key frame, and PLAY's answer to the first key frame.
    public var firstKeyFrameMilliseconds: Double?
    public var playToKeyFrameMilliseconds: Double?
    /// Of the frames, and of the audio; nil before it is known.
    public var videoTiming: Timing?
    public var audioTiming: Timing?
    /// The rate of the camera's clock against this box's, by the frames' time stamps, parts per million; nil before it
    /// is known.
    public var driftPartsPerMillion: Double?
    /// The camera's wall clock minus this box's, by its newest sender report or its ONVIF clock, in milliseconds.
    public var clockAheadMilliseconds: Double?
    /// Interarrival jitter of the video (RFC 3550 §6.4.1), in milliseconds.
    public var jitterMilliseconds: Double?
    /// Seconds until the next attempt, when it was last asked; nil while there is none to wait for.
    public var nextAttemptSeconds: Double?
    /// Where it seems to have moved, for a person to accept; nil or empty while nothing says so. At most 4.
    public var moves: [Move]?
    public var device: Device?
    /// The newest 32.
    public var events: [Event] = []
    public var eventCount: UInt64 = 0

    public init() {}
}
