public import BoxConfiguration

/// Where control reads and writes. All of it can be elsewhere, for tests.
public struct ControlPaths: Sendable {
    /// The operator's; only read.
    public var configurationDirectory: String
    /// Survives a reboot.
    public var stateDirectory: String
    /// A tmpfs.
    public var runtimeDirectory: String
    /// Of the cameras' units (`StateDirectory=watchbox-camera/ID`); only named in their files.
    public var cameraStateDirectory: String
    /// The same for their recordings (`StateDirectory=watchbox-recordings/ID`).
    public var recordings: String
    /// Where systemd finds units and their drop-ins, the first with precedence; only read.
    public var unitDirectories: [String]
    /// Where its libraries are; their names contain its version.
    public var systemdLibraries: [String]

    /// - Parameter systemdLibraries: nil: wherever distributions place them.
    public init(
        configurationDirectory: String = "/etc/watchbox", stateDirectory: String = "/var/lib/watchbox",
        runtimeDirectory: String = "/run/watchbox", cameraStateDirectory: String = "/var/lib/watchbox-camera",
        recordings: String = CameraSettings.recordings,
        unitDirectories: [String] = [
            "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        ], systemdLibraries: [String]? = nil
    ) {
        self.systemdLibraries = systemdLibraries ?? BindFilter.directories
        self.unitDirectories = unitDirectories
        self.configurationDirectory = configurationDirectory
        self.stateDirectory = stateDirectory
        self.runtimeDirectory = runtimeDirectory
        self.cameraStateDirectory = cameraStateDirectory
        self.recordings = recordings
    }

    var database: String { "\(stateDirectory)/state.db" }
    var generations: String { "\(stateDirectory)/generations" }
    /// One file for each ID whose secrets may be those of a camera that has it no more: empty, or with the UUID of the camera
    /// whose they are.
    var removals: String { "\(stateDirectory)/removals" }
    /// The public half of the box's device key.
    var device: String { "\(stateDirectory)/device.json" }
    /// Of the cameras' sockets.
    var cameras: String { "\(runtimeDirectory)/camera" }
    var services: String { "\(runtimeDirectory)/service" }

    /// Settings of the camera's unit.
    ///
    /// Not beside its socket, as nothing of control's is: cameras may make files there.
    func cameraFile(_ id: String) -> String { "\(services)/camera-\(id).json" }
    func cameraSocket(_ id: String) -> String { "\(cameras)/\(id).sock" }
    /// The unit may run with an older file: it has to be restarted.
    func restartMark(ofUnit unit: String) -> String? {
        file(ofUnit: unit).map { "\($0.dropLast(".json".count)).restart" }
    }
    /// Somebody asked for it to be stopped; kept until `start`, a change of the camera, or a reboot.
    func stopMark(_ id: String) -> String { "\(services)/camera-\(id).stopped" }
    func serviceFile(_ service: String) -> String { "\(services)/\(service).json" }
    /// What a mark is for; nil for another file.
    func markedFile(_ mark: String) -> String? {
        mark.hasSuffix(".restart") ? "\(mark.dropLast(".restart".count)).json" : nil
    }
    /// What a unit reads: the settings of a camera, of relay, KAS or hooks.
    func file(ofUnit unit: String) -> String? {
        UnitName.cameraID(unit).map { cameraFile($0) } ?? UnitName.service(unit).map { serviceFile($0) }
    }
    var healthSocket: String { "\(runtimeDirectory)/health.sock" }
    /// Of the process that reports events to hooks.
    var hooksSocket: String { "\(runtimeDirectory)/hooks/hooks.sock" }
    func cameraState(_ id: String) -> String { "\(cameraStateDirectory)/\(id)" }
}

/// Names of the units that control may start and stop.
enum UnitName {
    static let relay = "watchbox-relay.service"
    static let keyAccess = "watchbox-kas.service"
    static let hooks = "watchbox-hooks.service"
    /// Those that run when the configuration enables them, as their files are named.
    static let optional = ["hooks", "kas", "relay"]
    static let cameras = "watchbox-camera@*.service"
    static let services = "watchbox-*.service"

    static func camera(_ id: String) -> String { "watchbox-camera@\(id).service" }

    /// The ID in the name of a camera's unit; nil for another unit.
    static func cameraID(_ unit: String) -> String? {
        guard unit.hasPrefix("watchbox-camera@"), unit.hasSuffix(".service") else { return nil }
        return String(unit.dropFirst("watchbox-camera@".count).dropLast(".service".count))
    }

    /// `relay`, `kas` or `hooks`.
    static func service(_ unit: String) -> String? {
        optional.first { self.unit(ofService: $0) == unit }
    }

    static func unit(ofService service: String) -> String { "watchbox-\(service).service" }
}
