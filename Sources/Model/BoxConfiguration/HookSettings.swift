public import Settings

/// `hook.NAME`
public struct HookSettings: Equatable, Sendable {
    /// Begin the names of its secrets: a configuration that names another of the box's would have it sent to the
    /// receiver.
    public static let secretPrefix = "hook-"
    public static let tokenSecretPrefix = "bearer-"

    /// `http[s]://host/path`, without user, password and query; nil when only `secret` holds it.
    public var url: String?
    public var kind: HookKind = .webhook
    public var events: [HookTopic] = HookTopic.defaults
    /// IDs of cameras; none: all.
    public var cameras: [String] = []
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    public var enabled = true
    /// Name of the secret of scope `box` that holds the whole URL; it is used instead of `url`.
    public var secret: String?
    /// Name of the secret of scope `box` that the receiver is shown.
    public var tokenSecret: String?
}

extension HookSettings: SettingsTable {
    static let keys: [SettingKey<HookSettings>] = [
        SettingKey(
            "url", .hookURL, \.url,
            "`https://` URL that messages are sent to, or `http://`, where everybody between can read them; without user, password and query. May be left out when `secret` is given."
        ),
        SettingKey(
            "kind", \.kind,
            "What the receiver understands: `webhook` for a JSON document, `ntfy` for the service and the app of that name."
        ),
        SettingKey(
            "events", .choices(HookTopic.allCases.map(\.rawValue)), \.events,
            "What is sent to it. `motion` is what cameras report themselves, which can be a great deal."),
        SettingKey(
            "cameras", .strings(count: 256, limit: 24), \.cameras,
            "IDs of the cameras whose events are sent; without any, all. What is about no camera is sent all the same."
        ),
        SettingKey("ca_file", .path, \.caFile, "Certificates (PEM) that are trusted instead of the system's."),
        SettingKey(
            "public_key_pin", .certificatePin, \.publicKeyPin, defaultText: "any key that the certificates vouch for",
            "SHA-256 of the receiver's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, nothing is sent. Needs `https://`."
        ),
        SettingKey("enabled", \.enabled, "Whether anything is sent to it."),
        SettingKey(
            "secret", .secretName, \.secret,
            "Name of a stored secret of the box, `hook-…`, that holds the whole URL, when its path or its query is a secret, as an ntfy topic is; it is used instead of `url`."
        ),
        SettingKey(
            "token_secret", .secretName, \.tokenSecret,
            "Name of a stored secret of the box, `bearer-…`, that the receiver is shown: `Authorization: Bearer`."),
    ]
}
