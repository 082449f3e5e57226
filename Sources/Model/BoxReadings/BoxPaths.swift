/// Where the kernel and the image describe the box. Tests give readings a tree of their own.
public struct BoxPaths: Sendable {
    /// What the image requires of PID 1, its hardware watchdog above all.
    public static let managerSettings = "/etc/systemd/system.conf.d/90-watchbox.conf"

    /// `/proc`.
    public var processRoot: String
    /// `/sys`.
    public var systemRoot: String
    /// `BoxPaths.managerSettings`.
    public var managerSettings: String

    public init(processRoot: String, systemRoot: String, managerSettings: String) {
        self.processRoot = processRoot
        self.systemRoot = systemRoot
        self.managerSettings = managerSettings
    }

    /// Of a machine whose files are below `root`; empty for this one.
    public init(root: String) {
        self.init(
            processRoot: root + "/proc", systemRoot: root + "/sys", managerSettings: root + Self.managerSettings)
    }
}
