internal import Settings

/// `health`
public struct HealthSettings: Equatable, Sendable {
    /// The box may reboot itself.
    public var reboot = true
    /// `host:port` on which metrics are read over TCP; nil: nowhere.
    public var metricsListen: String?
}

extension HealthSettings: SettingsTable {
    static let keys: [SettingKey<HealthSettings>] = [
        SettingKey("reboot", \.reboot, "Whether the box may reboot itself when nothing smaller helps."),
        SettingKey(
            "metrics_listen", .listenAddress, \.metricsListen, defaultText: "not on TCP",
            "Address on which metrics can be read without authentication."),
    ]
}
