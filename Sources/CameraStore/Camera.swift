internal import FoundationEssentials
public import Settings

/// A camera that the box knows. It has no secret: the password is in the credential store, under the scope `camera-ID`.
public struct Camera: Codable, Equatable, Sendable, Identifiable {
    /// `[a-z0-9](-?[a-z0-9])*`, at most 24 characters: it becomes the instance of a unit, a user name and a path. Only `rename` changes it.
    public var id: String
    /// Lower-case UUID, unique; for what must not mistake a camera for a later one with the same `id`.
    public var uuid: String
    /// For people: at most 128 characters, no control characters.
    public var name: String
    /// `test:`, `file:/…`, `v4l2:…`, `rtsp://…`, `rtsps://…`, `onvif://…`, `http://…` or `https://…`; never with a user or a password.
    public var source: String
    /// Whom to log in as.
    public var user: String?
    /// Where the camera was last seen: host name or IP address.
    public var address: String?
    public var port: Int?
    public var manufacturer: String?
    public var model: String?
    /// Version of the camera's own software.
    public var firmware: String?
    /// Whether it is meant to publish.
    public var isActive: Bool
    /// Where it stands in the grid, from 0.
    public var gridPosition: Int
    /// Unix seconds.
    public var added: Int64
    /// Unix seconds; nil: never.
    public var lastConnected: Int64?
    public var identity: CameraIdentity
    /// Settings of the stream by name, as `BoxConfiguration` knows them.
    public var settings: [String: SettingValue]
    /// Grows by 1 with every change that somebody makes, from 1; not with what a device tells of itself.
    public var revision: Int

    public init(
        id: String, uuid: String = Camera.makeUUID(), name: String, source: String, user: String? = nil,
        address: String? = nil, port: Int? = nil, manufacturer: String? = nil, model: String? = nil,
        firmware: String? = nil, isActive: Bool = true, gridPosition: Int = 0, added: Int64,
        lastConnected: Int64? = nil,
        identity: CameraIdentity = CameraIdentity(), settings: [String: SettingValue] = [:], revision: Int = 1
    ) {
        self.id = id
        self.uuid = uuid
        self.name = name
        self.source = source
        self.user = user
        self.address = address
        self.port = port
        self.manufacturer = manufacturer
        self.model = model
        self.firmware = firmware
        self.isActive = isActive
        self.gridPosition = gridPosition
        self.added = added
        self.lastConnected = lastConnected
        self.identity = identity
        self.settings = settings
        self.revision = revision
    }

    public static func makeUUID() -> String { UUID().uuidString.lowercased() }

    /// Whether `id` may name a camera.
    public static func isValidID(_ id: String) -> Bool { FieldRules.isName(id, limit: 24) }
}

/// A camera with its profiles: what an export holds of it.
public struct CameraRecord: Codable, Equatable, Sendable {
    public var camera: Camera
    public var profiles: [StreamProfile]

    public init(camera: Camera, profiles: [StreamProfile] = []) {
        self.camera = camera
        self.profiles = profiles
    }
}
