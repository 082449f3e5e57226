public import CameraModel
internal import Settings

/// `relay.NAME`
public struct RelaySettings: Equatable, Sendable {
    /// `rtmp[s]://host/application`, without user, password and query; nil when only `secret` holds it.
    public var url: String?
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    public var profile: CameraConfiguration.RelayProfile = .keepsMetadata
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    /// Hosts besides its own that it may send cameras to, `host` or `host:port`.
    public var redirectHosts: [String] = []
    /// Name of the secret of scope `box` that holds the whole URL; it is used instead of `url`.
    public var secret: String?
}

extension RelaySettings: SettingsTable {
    static let keys: [SettingKey<RelaySettings>] = [
        SettingKey(
            "url", .relayURL, \.url,
            "`rtmp://` or `rtmps://`, host and application, without user, password and query; each camera adds its stream's name. May be left out when `secret` is given."
        ),
        SettingKey("ca_file", .path, \.caFile, "Certificates (PEM) that are trusted instead of the system's."),
        SettingKey(
            "public_key_pin", .certificatePin, \.publicKeyPin, defaultText: "any key that the certificates vouch for",
            "SHA-256 of the relay's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, nothing is sent. Needs `rtmps://`."
        ),
        SettingKey(
            "profile", \.profile,
            "What the relay does to metadata and frames; `watchboxctl relay test` finds it out. With `parses-avcc` each sealed frame travels as one NAL unit, which viewers of other makers do not read."
        ),
        SettingKey(
            "redirect_hosts", .hosts, \.redirectHosts,
            "Hosts besides its own that the relay may send cameras to; without a port, the port of `url` or the scheme's own. TLS is never lowered. They get the stream key, but not user and password, and must satisfy the same `public_key_pin`."
        ),
        SettingKey(
            "secret", .secretName, \.secret,
            "Name of a stored secret of the box that holds the whole URL, with user, password or stream key; it is used instead of `url`."
        ),
    ]
}
