public import CameraModel
public import ErrorCatalog
public import Settings

/// What is requested of a camera: body of `POST /api/v1/cameras` and, with only the fields that change, of
/// `PATCH /api/v1/cameras/{id}`. Holds no password; that goes to `PUT /api/v1/cameras/{id}/password`.
public struct CameraRequest: Codable, Equatable, Sendable {
    /// Needed to add; refused in a change.
    public var id: String?
    public var name: String?
    /// `test:`, `file:/path`, `v4l2:/dev/…`, `csi:…`, `rtsp://…`, `rtsps://…`, `onvif://…`, `http://…`, `https://…`; without
    /// user or password.
    public var source: String?
    public var user: String?
    public var isActive: Bool?
    /// The keys of `camera` in docs/ref/configuration.md, as in the TOML. Those that a change does not name stay as
    /// they are.
    public var settings: [String: SettingValue]?
    /// ID of a camera test of the same source: what it found out is kept with the camera (maker, identity, profiles,
    /// and the certificate's pin), if the camera was usable.
    public var test: String?
    /// Of a change: where the camera seems to have moved (`NetworkStatistics.moves`) and is from now on: the `source`
    /// of an `onvif://` camera, the `address` of another. Nothing else is taken, and what is known of the camera stays.
    public var acceptMove: String?

    public init(
        id: String? = nil, name: String? = nil, source: String? = nil, user: String? = nil, isActive: Bool? = nil,
        settings: [String: SettingValue]? = nil, test: String? = nil, acceptMove: String? = nil
    ) {
        self.acceptMove = acceptMove
        self.id = id
        self.name = name
        self.source = source
        self.user = user
        self.isActive = isActive
        self.settings = settings
        self.test = test
    }
}

/// Body of `POST /api/v1/cameras/{id}/rename`.
public struct CameraRenameRequest: Codable, Equatable, Sendable {
    /// The ID that the camera gets.
    public var id: String
    /// Name of its stream at relay and KAS from now on; without it the stream's name stays.
    public var stream: String?
    /// Of its login, given again: needed where one is stored that only systemd can open. It is never shown again.
    public var password: String?

    public init(id: String, stream: String? = nil, password: String? = nil) {
        self.id = id
        self.stream = stream
        self.password = password
    }
}

/// One camera as the box knows it.
public struct CameraDocument: Codable, Equatable, Sendable {
    public struct Profile: Codable, Equatable, Sendable {
        public var name: String
        public var width: Int?
        public var height: Int?
        /// Frames per second.
        public var rate: Double?
        public var codec: String?
        public var isDefault: Bool
        /// The camera's own name for it, for the setting `profile`.
        public var token: String?
        /// Bits per second.
        public var bitrate: Int?
        /// Frames from one key frame to the next.
        public var gop: Int?

        public init(
            name: String, width: Int?, height: Int?, rate: Double?, codec: String?, isDefault: Bool,
            token: String? = nil, bitrate: Int? = nil, gop: Int? = nil
        ) {
            self.token = token
            self.bitrate = bitrate
            self.gop = gop
            self.name = name
            self.width = width
            self.height = height
            self.rate = rate
            self.codec = codec
            self.isDefault = isDefault
        }
    }

    public var schema = "watchbox.camera/1"
    public var id: String
    public var name: String
    public var source: String
    public var user: String?
    public var hasPassword: Bool
    public var isActive: Bool
    public var gridPosition: Int
    /// Seconds since 1970; nil for one that a file defines.
    public var added: Int64?
    public var lastConnected: Int64?
    public var manufacturer: String?
    public var model: String?
    public var firmware: String?
    /// What stays when its address changes: WS-Discovery's endpoint reference, serial number, MAC address.
    public var endpoint: String?
    public var serial: String?
    public var mac: String?
    /// Where it was last reached.
    public var address: String?
    public var port: Int?
    public var settings: [String: SettingValue]
    public var profiles: [Profile]
    /// `store`, or `watchbox.toml:12` for one that a file defines.
    public var origin: String
    public var stream: StreamDocument

    public init(
        id: String, name: String, source: String, user: String? = nil, hasPassword: Bool = false, isActive: Bool = true,
        gridPosition: Int = 0, added: Int64? = nil, lastConnected: Int64? = nil, manufacturer: String? = nil,
        model: String? = nil, firmware: String? = nil, endpoint: String? = nil, serial: String? = nil,
        mac: String? = nil, address: String? = nil, port: Int? = nil, settings: [String: SettingValue] = [:],
        profiles: [Profile] = [], origin: String, stream: StreamDocument
    ) {
        self.id = id
        self.name = name
        self.source = source
        self.user = user
        self.hasPassword = hasPassword
        self.isActive = isActive
        self.gridPosition = gridPosition
        self.added = added
        self.lastConnected = lastConnected
        self.manufacturer = manufacturer
        self.model = model
        self.firmware = firmware
        self.endpoint = endpoint
        self.serial = serial
        self.mac = mac
        self.address = address
        self.port = port
        self.settings = settings
        self.profiles = profiles
        self.origin = origin
        self.stream = stream
    }
}

public struct CameraListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.cameras/1"
    /// By grid position, then by ID.
    public var cameras: [CameraDocument]

    public init(cameras: [CameraDocument]) {
        self.cameras = cameras
    }
}

/// Body of `PUT /api/v1/cameras/order`.
public struct CameraOrderRequest: Codable, Equatable, Sendable {
    public var ids: [String]

    public init(ids: [String]) {
        self.ids = ids
    }
}

/// One encrypted publication, one per camera.
public struct StreamDocument: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        /// The relay's kernel acknowledges frames; whether the relay hands them on, only a viewer sees.
        case live
        case starting
        /// For its source, its key or its relay; `reason` says which.
        case waiting
        case stopped
        case failed
        /// The camera's process does not answer.
        case unknown
    }

    public var camera: String
    public var stream: String
    public var state: State
    public var reason: String?
    public var code: ErrorCode?
    /// What to do about `reason`; nil when there is nothing.
    public var hint: String?
    /// Name of the relay in the configuration.
    public var relay: String?
    /// Of the last second or so; nil when the process does not answer.
    public var framesPerSecond: Double?
    public var bitsPerSecond: Double?
    /// Since the relay's kernel last acknowledged bytes of the stream (TCP).
    public var acknowledgedSecondsAgo: Double?
    public var roundTripMilliseconds: Double?
    /// Since the bitrate last followed the link (`statistics.uplink`); nil: it never did.
    public var uplinkChangedSecondsAgo: Double?
    /// Restarts of the unit by systemd.
    public var restarts: Int
    /// Of the unit: `active`, `failed` ….
    public var unit: String
    public var statistics: CameraStatistics?

    public init(
        camera: String, stream: String, state: State, reason: String? = nil, code: ErrorCode? = nil,
        hint: String? = nil, relay: String? = nil, framesPerSecond: Double? = nil, bitsPerSecond: Double? = nil,
        acknowledgedSecondsAgo: Double? = nil, roundTripMilliseconds: Double? = nil,
        uplinkChangedSecondsAgo: Double? = nil, restarts: Int = 0, unit: String, statistics: CameraStatistics? = nil
    ) {
        self.camera = camera
        self.stream = stream
        self.state = state
        self.reason = reason
        self.code = code
        self.hint = hint
        self.relay = relay
        self.framesPerSecond = framesPerSecond
        self.bitsPerSecond = bitsPerSecond
        self.acknowledgedSecondsAgo = acknowledgedSecondsAgo
        self.roundTripMilliseconds = roundTripMilliseconds
        self.uplinkChangedSecondsAgo = uplinkChangedSecondsAgo
        self.restarts = restarts
        self.unit = unit
        self.statistics = statistics
    }
}

public struct StreamListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.streams/1"
    public var streams: [StreamDocument]

    public init(streams: [StreamDocument]) {
        self.streams = streams
    }
}

/// What one camera's process says on its own socket, `GET /api/v1/status`.
public struct CameraStatusDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.camera-process/1"
    public var statistics: CameraStatistics
    /// CLOCK_MONOTONIC in nanoseconds when this was read.
    public var instant: UInt64
    /// Over about the last two seconds.
    public var framesPerSecond: Double
    public var bitsPerSecond: Double
    /// Items used of the 2^24 − 1 that a collection has.
    public var ivUsedRatio: Double
    /// For how long every frame was the same as the one before; nil when the source does not report it.
    public var frameUnchangedSeconds: Double?
    public var watchdogSeconds: Double?
    public var version: String

    public init(
        statistics: CameraStatistics, instant: UInt64, framesPerSecond: Double, bitsPerSecond: Double,
        ivUsedRatio: Double, frameUnchangedSeconds: Double? = nil, watchdogSeconds: Double?, version: String
    ) {
        self.statistics = statistics
        self.instant = instant
        self.framesPerSecond = framesPerSecond
        self.bitsPerSecond = bitsPerSecond
        self.ivUsedRatio = ivUsedRatio
        self.frameUnchangedSeconds = frameUnchangedSeconds
        self.watchdogSeconds = watchdogSeconds
        self.version = version
    }
}

/// The key material of one stream, as far as it may be shown: never the key.
public struct KeyDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.key/1"
    public var camera: String
    public var stream: String
    /// First 8 hexadecimal digits of the SHA-256 of the current header; nil before the first.
    public var collection: String?
    public var ivUsed: UInt32
    /// 2^24 − 1.
    public var ivLimit: UInt32
    public var rotations: UInt64
    public var headersRegistered: UInt64
    public var headersUnregistered: UInt64

    public init(
        camera: String, stream: String, collection: String?, ivUsed: UInt32, ivLimit: UInt32 = (1 << 24) - 1,
        rotations: UInt64, headersRegistered: UInt64, headersUnregistered: UInt64
    ) {
        self.camera = camera
        self.stream = stream
        self.collection = collection
        self.ivUsed = ivUsed
        self.ivLimit = ivLimit
        self.rotations = rotations
        self.headersRegistered = headersRegistered
        self.headersUnregistered = headersUnregistered
    }
}

public struct KeyListDocument: Codable, Equatable, Sendable {
    public var schema = "watchbox.keys/1"
    public var keys: [KeyDocument]

    public init(keys: [KeyDocument]) {
        self.keys = keys
    }
}
