public import BoxReadings

/// Where the monitor looks and writes. Tests give it a tree of their own.
public struct HealthPaths: Sendable {
    /// For the readings that `watchboxctl doctor` makes as well.
    public var box = BoxPaths(root: "")
    /// The monitor's own: ladder, history, canary.
    public var stateDirectory = "/var/lib/watchbox-health"
    /// Of control: cameras, settings, later the archive.
    public var dataDirectory = "/var/lib/watchbox"
    /// One socket `ID.sock` per camera.
    public var cameraSockets = "/run/watchbox/camera"
    /// `HealthServiceSettings` as JSON, written by control.
    public var settingsFile = "/run/watchbox/service/health.json"
    /// What is written here outlives a reboot on boards with a RAM console or EFI; nothing happens where it is missing.
    public var persistentMessages = "/dev/pmsg0"

    public init() {}
}
