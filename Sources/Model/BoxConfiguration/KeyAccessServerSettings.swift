internal import Settings

/// `kas_server`
public struct KeyAccessServerSettings: Equatable, Sendable {
    public var enabled = false
    /// `host:port`
    public var listen = "127.0.0.1:9443"
    /// Both or none.
    public var tlsCertificate: String?
    public var tlsKey: String?
    /// Hours; 0: only on request.
    public var keyEpochHours = 24
    /// Days.
    public var keyRetentionDays = 7
}

extension KeyAccessServerSettings: SettingsTable {
    static let keys: [SettingKey<KeyAccessServerSettings>] = [
        SettingKey("enabled", \.enabled, "Whether it runs."),
        SettingKey("listen", .listenAddress, \.listen, "Address that it listens on; beyond this machine it needs TLS."),
        SettingKey("tls_certificate", .path, \.tlsCertificate, defaultText: "no TLS", "Certificate chain (PEM)."),
        SettingKey("tls_key", .path, \.tlsKey, defaultText: "no TLS", "Private key (PEM) of the certificate."),
        SettingKey(
            "key_epoch_hours", .integer(0...8760), \.keyEpochHours,
            "How long streams are sealed for one key, before the next one takes over; 0: until `watchboxctl kas key rollover`."
        ),
        SettingKey(
            "key_retention_days", .integer(1...3650), \.keyRetentionDays,
            "How long a replaced key opens what was sealed for it; then it is destroyed, and nothing can."),
    ]
}
