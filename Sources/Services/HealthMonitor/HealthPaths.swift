public import BoxReadings

/// Where the monitor looks and writes. Tests give it a tree of their own.
public struct HealthPaths: Sendable {
    /// For the readings that `watchboxctl doctor` makes as well.
    public var box: BoxPaths
    /// The monitor's own: ladder, history, canary.
    public var stateDirectory: String
    /// Of control: cameras, settings, later the archive.
    public var dataDirectory: String
    /// One socket `ID.sock` per camera.
    public var cameraSockets: String
    /// `HealthServiceSettings` as JSON, written by control.
    public var settingsFile: String
    /// What is written here outlives a reboot on boards with a RAM console or EFI; nothing happens where it is missing.
    public var persistentMessages: String

    public init(
        box: BoxPaths = BoxPaths(root: ""),
        stateDirectory: String = "/var/lib/watchbox-health", dataDirectory: String = "/var/lib/watchbox",
        cameraSockets: String = "/run/watchbox/camera", settingsFile: String = "/run/watchbox/service/health.json",
        persistentMessages: String = "/dev/pmsg0"
    ) {
        self.box = box
        self.stateDirectory = stateDirectory
        self.dataDirectory = dataDirectory
        self.cameraSockets = cameraSockets
        self.settingsFile = settingsFile
        self.persistentMessages = persistentMessages
    }
}
