public import ErrorCatalog

/// What a camera process can say about itself at one moment. All counts begin with the process and never go back.
public struct CameraStatistics: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        case starting
        /// No usable public key of the KAS: nothing is sent until there is one.
        case waitingForKey
        case connecting
        case publishing
        /// The stream ended; the next attempt waits its turn.
        case waitingToReconnect
        case stopping
        case stopped
        /// Ended for good; `reason` says why.
        case failed
    }

    /// One medium's way through the process, in access units:
    /// `delivered + (late ?? 0) == sealed + dropped + refused + waiting`.
    public struct Track: Codable, Equatable, Sendable {
        /// By the source.
        public var delivered: UInt64 = 0
        /// Encrypted, each with an IV of its own, and handed to the transport in the same step.
        public var sealed: UInt64 = 0
        /// Given up before sealing: congestion, no relay, a key frame had to come first, or `late`.
        public var dropped: UInt64 = 0
        /// Of `dropped`: those that a test pattern left out because this machine does not keep up with its rate. They
        /// were due and never made, so they are not among `delivered`. Nil for every other source, and for audio.
        public var late: UInt64?
        /// Longer than an RTMP message can carry.
        public var refused: UInt64 = 0
        /// Bytes of media as the source delivered them, of sealed units.
        public var bytes: UInt64 = 0
        /// CLOCK_MONOTONIC in nanoseconds when the source captured the newest one; nil before the first.
        public var lastCaptured: UInt64?
        /// Newest frames that show what those before them showed, as far as their encoded bytes show: between key
        /// frames all of one length, and key frames the same. Nil until two key frames were there to compare, and for
        /// audio.
        public var unchangedFrames: UInt64?

        public init() {}

        /// Of `dropped`, without `late`.
        public var droppedOnTheWay: UInt64 { dropped - min(late ?? 0, dropped) }
    }

    /// Where the time comes from that is sealed into the stream, for viewers to assess its age by.
    public enum Clock: String, Codable, Sendable, CaseIterable {
        /// From nowhere: the system's clock is not set or not kept right, and the KAS has not said what time it is.
        case unset
        case system
        /// The system's clock is unset or off by more than two seconds.
        case keyAccess
    }

    public struct Queue: Codable, Equatable, Sendable {
        public var units: Int = 0
        public var bytes: Int = 0
        /// Of video, in milliseconds of decode time.
        public var milliseconds: Int64 = 0

        public init() {}
    }

    public var camera: String
    public var stream: String
    public var state: State = .starting
    /// Why it is in this state, for a person; nil when there is nothing to say.
    public var reason: String?
    /// The same for programs; nil while nothing is wrong.
    public var code: ErrorCode?
    public var video = Track()
    public var audio = Track()
    public var queue = Queue()
    /// Of a source with a camera and an encoder; nil for a file.
    public var capture: CaptureStatistics?
    public var keyFramesRequested: UInt64 = 0
    /// Collections that were put to use.
    public var collections: UInt64 = 0
    /// Changes of the collection within a running stream.
    public var rotations: UInt64 = 0
    /// Rotations that were due but had no collection ready; each is tried again at the next key frame.
    public var rotationsDeferred: UInt64 = 0
    /// Of sealed media: everything over the source's own bytes (FLV prefix, IV, length, tag), and the headers,
    /// metadata and sequence headers.
    public var overheadBytes: UInt64 = 0
    /// Streams that were published.
    public var connections: UInt64 = 0
    /// Attempts after the first.
    public var reconnects: UInt64 = 0
    /// Steps of waiting: each answer of the KAS that was none, each end of a stream and each attempt after it. A wait
    /// that gets on counts up.
    public var attempts: UInt64 = 0
    /// Headers that the KAS has confirmed for this stream.
    public var headersRegistered: UInt64 = 0
    /// Headers that it did not confirm yet; viewers may be refused meanwhile.
    public var headersUnregistered: UInt64 = 0
    /// SHA-256 of the current header, the first 8 hexadecimal digits.
    public var collection: String?
    /// IV of the last item under the current collection.
    public var itemsInCollection: UInt32 = 0
    /// Of the relay, in nanoseconds; nil before the first answer.
    public var roundTripNanoseconds: UInt64?
    /// CLOCK_MONOTONIC in nanoseconds when the relay last showed that it reads.
    public var lastAcknowledged: UInt64?
    /// CLOCK_MONOTONIC in nanoseconds when the last media message was handed to the transport.
    public var lastSent: UInt64?
    public var clock: Clock?
    /// Nil: it is not recorded.
    public var recording: RecordingStatistics?
    /// Nil: the source's bitrate cannot follow the link to the relay, or is not to.
    public var uplink: UplinkStatistics?

    public init(camera: String, stream: String) {
        self.camera = camera
        self.stream = stream
    }
}

/// What a supervisor needs to know at once instead of reading it from the statistics.
public enum CameraEvent: Equatable, Sendable {
    case stateChanged(CameraStatistics.State, reason: String?)
    /// A new collection covers the frames from here on; the first 8 hexadecimal digits of its header's SHA-256.
    case collectionStarted(String)
    /// Frames were given up because the relay was slower than the source.
    case framesDropped(video: UInt64)
    /// Something that an operator should read, though the stream goes on.
    case warning(String)
}
