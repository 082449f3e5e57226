public import Settings

/// The settings of one camera process, as the control process writes them to a file. Holds no secret: what is secret
/// is kept in files of its own, which are named here.
public struct CameraConfiguration: Codable, Equatable, Sendable {
    /// `[a-z0-9](-?[a-z0-9])*`, at most 24 characters: it becomes the instance of a unit, a path, and a user name,
    /// which has at most 31 with its `wb-cam-`.
    public var id: String
    /// The name under which the KAS knows the stream; the last part of the relay's URL when that names none. Nil: `id`.
    public var streamName: String?
    public var source: Source
    public var relay: Relay
    public var kas: KASConfiguration
    public var policy: Policy
    public var rotation: Rotation
    public var queue: Queue
    /// When the header frame is repeated before key frames under the same collection. Nil: as `relayProfile` needs it.
    public var repeatHeader: RepeatHeader?
    public var relayProfile: RelayProfile
    /// JSON lines, one per sealed access unit, go to this file; for proofs and measurements.
    public var frameLog: String?
    /// Seconds to publish; nil: until stopped.
    public var duration: Double?
    /// Which camera of this ID it is: what the process keeps between its starts is that one's alone. Nil: they are not
    /// told apart.
    public var instance: String?
    /// Nil: it is not recorded.
    public var recording: Recording?
    /// Nil: as `Uplink()` says.
    public var uplink: Uplink?

    public struct Relay: Codable, Equatable, Sendable {
        /// `rtmp[s]://host[:port]/app[/stream]`, without user, password or query: what others may see.
        public var url: String?
        /// A file that holds the URL and nothing else; needed when the URL is a secret.
        public var urlFile: String?
        /// Certificates (PEM) that are trusted instead of the system's.
        public var caFile: String?
        /// "sha256//" and the Base64 of the SHA-256 of the relay's SubjectPublicKeyInfo: holds in addition to the
        /// chain, and wherever the relay sends the camera. Nil: any key that the chain vouches for.
        public var publicKeyPin: String?
        /// Hosts besides its own that the relay may send the camera to, `host` or `host:port` (`RedirectHost`); nil:
        /// none.
        public var redirectHosts: [String]?

        public init(
            url: String? = nil, urlFile: String? = nil, caFile: String? = nil, publicKeyPin: String? = nil,
            redirectHosts: [String]? = nil
        ) {
            self.url = url
            self.urlFile = urlFile
            self.caFile = caFile
            self.publicKeyPin = publicKeyPin
            self.redirectHosts = redirectHosts
        }
    }

    /// Who may open the stream: the policy in the header of each collection.
    public struct Policy: Codable, Equatable, Sendable {
        /// Attribute URIs; every one must be granted to the viewer.
        public var dataAttributes: [String]
        /// Subjects; empty: every authenticated one.
        public var dissem: [String]

        public init(dataAttributes: [String] = [], dissem: [String] = []) {
            self.dataAttributes = dataAttributes
            self.dissem = dissem
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                dataAttributes: try fields.value(.dataAttributes, default: []),
                dissem: try fields.value(.dissem, default: []))
        }
    }

    /// When a new collection begins, always at a key frame.
    public struct Rotation: Codable, Equatable, Sendable {
        public var seconds: Double
        public var items: Int
        /// Compatibility with the Arkavo app: one collection per group of pictures.
        public var everyKeyFrame: Bool

        public init(seconds: Double = 60, items: Int = 1 << 20, everyKeyFrame: Bool = false) {
            self.seconds = seconds
            self.items = items
            self.everyKeyFrame = everyKeyFrame
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let defaults = Self()
            self.init(
                seconds: try fields.value(.seconds, default: defaults.seconds),
                items: try fields.value(.items, default: defaults.items),
                everyKeyFrame: try fields.value(.everyKeyFrame, default: defaults.everyKeyFrame))
        }
    }

    public struct Queue: Codable, Equatable, Sendable {
        /// Of waiting video.
        public var seconds: Double
        public var bytes: Int

        public init(seconds: Double = 2, bytes: Int = 16 << 20) {
            self.seconds = seconds
            self.bytes = bytes
        }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            let defaults = Self()
            self.init(
                seconds: try fields.value(.seconds, default: defaults.seconds),
                bytes: try fields.value(.bytes, default: defaults.bytes))
        }
    }

    public enum RepeatHeader: String, Codable, Sendable, CaseIterable {
        case off
        case keyframe
    }

    /// What the relay does to metadata and frames (docs/ref/wire-format.md, "Which relays pass it").
    public enum RelayProfile: String, Codable, Sendable, CaseIterable {
        /// A late joiner gets the header from the metadata.
        case keepsMetadata = "keeps-metadata"
        /// The header frame is repeated before each key frame.
        case dropsMetadata = "drops-metadata"
        /// Each sealed frame is wrapped into a NAL unit, which a relay that parses frames passes on. Readers of other
        /// makers do not know the form.
        case parsesAVCC = "parses-avcc"
    }

    public init(
        id: String, streamName: String? = nil, source: Source, relay: Relay, kas: KASConfiguration,
        policy: Policy = Policy(), rotation: Rotation = Rotation(), queue: Queue = Queue(),
        repeatHeader: RepeatHeader? = nil, relayProfile: RelayProfile = .keepsMetadata, frameLog: String? = nil,
        duration: Double? = nil, instance: String? = nil, recording: Recording? = nil, uplink: Uplink? = nil
    ) {
        self.instance = instance
        self.recording = recording
        self.uplink = uplink
        self.id = id
        self.streamName = streamName
        self.source = source
        self.relay = relay
        self.kas = kas
        self.policy = policy
        self.rotation = rotation
        self.queue = queue
        self.repeatHeader = repeatHeader
        self.relayProfile = relayProfile
        self.frameLog = frameLog
        self.duration = duration
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try fields.decode(String.self, forKey: .id),
            streamName: try fields.decodeIfPresent(String.self, forKey: .streamName),
            source: try fields.decode(Source.self, forKey: .source),
            relay: try fields.decode(Relay.self, forKey: .relay),
            kas: try fields.decode(KASConfiguration.self, forKey: .kas),
            policy: try fields.value(.policy, default: Policy()),
            rotation: try fields.value(.rotation, default: Rotation()),
            queue: try fields.value(.queue, default: Queue()),
            repeatHeader: try fields.decodeIfPresent(RepeatHeader.self, forKey: .repeatHeader),
            relayProfile: try fields.value(.relayProfile, default: .keepsMetadata),
            frameLog: try fields.decodeIfPresent(String.self, forKey: .frameLog),
            duration: try fields.decodeIfPresent(Double.self, forKey: .duration),
            instance: try fields.decodeIfPresent(String.self, forKey: .instance),
            recording: try fields.decodeIfPresent(Recording.self, forKey: .recording),
            uplink: try fields.decodeIfPresent(Uplink.self, forKey: .uplink))
    }

    /// The name under which the KAS knows the stream.
    public var stream: String { streamName ?? id }

    /// Whether header frames are repeated before key frames.
    public var repeatsHeader: Bool {
        (repeatHeader ?? (relayProfile == .dropsMetadata ? .keyframe : .off)) == .keyframe
    }

    /// The source waits for the relay instead of the queue dropping for it.
    public var isUnthrottled: Bool {
        if case .file(let file) = source { file.pace == .unthrottled } else { false }
    }
}
