public import Settings

/// The configuration of a box: files and store merged, checked, with defaults filled in. Names secrets, holds none.
public struct BoxSettings: Sendable {
    /// How many of each a box has at most.
    public static let cameraLimit = 64
    public static let relayLimit = 16
    public static let hookLimit = 8

    /// For people.
    public var name = "watchbox"
    /// Network cameras that may be active at once.
    public var pulls = 16
    /// Thumbnails of network cameras are kept on the disk, in clear.
    public var previews = false
    /// By name.
    public var relays: [String: RelaySettings] = [:]
    /// Nil: no key access server is set, so no camera can run.
    public var kas: KeyAccessSettings?
    /// By ID.
    public var cameras: [String: CameraSettings] = [:]
    /// By name.
    public var hooks: [String: HookSettings] = [:]
    public var health = HealthSettings()
    public var relayServer = RelayServerSettings()
    public var kasServer = KeyAccessServerSettings()
    /// Where each object is defined: `camera.front` → `conf.d/10-cams.toml:4`, or `store`. Objects that are nowhere
    /// defined have their defaults and no entry. Two settings that differ only here are equal.
    public var origins: [String: String] = [:]
    /// What this version refuses, by object; nothing of it is in these settings. Two settings that differ only here are
    /// equal.
    public var quarantined: [String: QuarantinedObject] = [:]

    /// A box without cameras, with all defaults.
    public init() {}
}

extension BoxSettings: Equatable {
    public static func == (one: BoxSettings, other: BoxSettings) -> Bool {
        one.name == other.name && one.pulls == other.pulls && one.previews == other.previews
            && one.relays == other.relays && one.kas == other.kas && one.cameras == other.cameras
            && one.hooks == other.hooks
            && one.health == other.health && one.relayServer == other.relayServer && one.kasServer == other.kasServer
    }
}

/// `box`: of its own settings alone.
extension BoxSettings: SettingsTable {
    static let keys: [SettingKey<BoxSettings>] = [
        SettingKey("name", .text(limit: 64), \.name, "Name of the box, for people."),
        SettingKey(
            "pulls", .integer(1...256), \.pulls,
            "How many network cameras may be active at once; each is a process, and costs the network its bit rate."),
        SettingKey(
            "previews", \.previews,
            "Whether the thumbnails of network cameras are also kept on the disk of this box, unencrypted, for when a camera or the box was away. Otherwise they are in memory only."
        ),
    ]
}
