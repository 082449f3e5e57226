internal import Settings

/// `relay_server`
public struct RelayServerSettings: Equatable, Sendable {
    public var enabled = false
    /// `host:port`
    public var listen = "0.0.0.0:1935"
    /// File of the keys that publishers must know; nil: it makes one, unless `isOpen` or on loopback.
    public var publishKeys: String?
    /// Anyone may publish when there is no `publishKeys`.
    public var isOpen = false
    /// File of the keys that players must know; nil: anyone may play, unless there is a `playLinkSecret`.
    public var playKeys: String?
    /// File of the secret that play links are signed with.
    public var playLinkSecret: String?
    /// Networks in CIDR notation; empty: all.
    public var allow: [String] = []
    /// Comes before `allow`.
    public var deny: [String] = []
    /// URLs of relays that streams are handed on to.
    public var forward: [String] = []
    /// File with more of them.
    public var forwardFile: String?
    /// Certificates (PEM) that are trusted for them instead of the system's.
    public var forwardCAFile: String?
    /// `host:port` of the operator's API; nil: there is none.
    public var apiListen: String?
    /// File of the API's token; nil on loopback only.
    public var apiToken: String?
    /// Both or none.
    public var tlsCertificate: String?
    public var tlsKey: String?
}

extension RelayServerSettings: SettingsTable {
    static let keys: [SettingKey<RelayServerSettings>] = [
        SettingKey("enabled", \.enabled, "Whether it runs."),
        SettingKey("listen", .listenAddress, \.listen, "Address that it listens on."),
        SettingKey(
            "publish_keys", .path, \.publishKeys,
            defaultText: "one key that the relay makes, none when it listens on this machine only",
            "File with the keys that publishers must know, `app/stream = key` each; `watchboxctl relay key` shows the one that was made."
        ),
        SettingKey(
            "open", \.isOpen,
            "Whether anybody may publish when there is no `publish_keys`, from other machines as well."),
        SettingKey(
            "play_keys", .path, \.playKeys, defaultText: "everybody may play",
            "File with the keys that players must know."),
        SettingKey(
            "play_link_secret", .path, \.playLinkSecret, defaultText: "no links",
            "File with the secret that play links are signed with: `watchboxctl relay link`."),
        SettingKey("allow", .networks, \.allow, "Networks that it talks to; without any, all of them."),
        SettingKey("deny", .networks, \.deny, "Networks that it does not talk to."),
        SettingKey(
            "forward", .strings(count: 8, limit: 1024), \.forward,
            "Relays that every published stream is handed on to, such as `rtmps://other.example.net/live`; without secrets, at most 8 with those of `forward_file`."
        ),
        SettingKey(
            "forward_file", .path, \.forwardFile, defaultText: "none",
            "File with more such relays, a line `[pattern] URL` each, keys allowed; a pattern is `app/*`, `app/name` or `*`."
        ),
        SettingKey(
            "forward_ca_file", .path, \.forwardCAFile, defaultText: "the system's",
            "Certificates (PEM) that are trusted for those relays instead of the system's."),
        SettingKey(
            "api_listen", .listenAddress, \.apiListen, defaultText: "no API",
            "Address of the operator's API over plain HTTP, such as `127.0.0.1:1985`: statistics, `/metrics`, `watchboxctl relay status`."
        ),
        SettingKey(
            "api_token", .path, \.apiToken, defaultText: "figures alone",
            "File with the token of the API, 16 characters or more; without it the API listens on this machine alone and serves `/metrics` and streams alone."
        ),
        SettingKey(
            "tls_certificate", .path, \.tlsCertificate, defaultText: "no TLS", "Certificate chain (PEM) for `rtmps`."),
        SettingKey("tls_key", .path, \.tlsKey, defaultText: "no TLS", "Private key (PEM) of the certificate."),
    ]
}
