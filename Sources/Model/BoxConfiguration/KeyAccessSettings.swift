public import Settings

/// `kas`
public struct KeyAccessSettings: Equatable, Sendable {
    public var url = ""
    /// Certificates (PEM) that are trusted instead of the system's.
    public var caFile: String?
    /// `sha256//BASE64` of its public key; nil: any that the certificates vouch for.
    public var publicKeyPin: String?
    /// Whether headers name the KAS key that they are made for.
    public var keyIdentifiers: KeyIdentifierUse = .automatic
    /// Name of the secret of scope `box` that holds the access token.
    public var secret: String?
}

extension KeyAccessSettings: SettingsTable {
    static let keys: [SettingKey<KeyAccessSettings>] = [
        SettingKey(
            "url", .keyAccessURL, \.url, required: true,
            "`https://` URL of the KAS, or `http://` on this machine; without user, password and query."),
        SettingKey("ca_file", .path, \.caFile, "Certificates (PEM) that are trusted instead of the system's."),
        SettingKey(
            "public_key_pin", .certificatePin, \.publicKeyPin, defaultText: "any key that the certificates vouch for",
            "SHA-256 of the KAS's public key (SubjectPublicKeyInfo): it holds in addition to the certificates, and where it does not fit, it is sent nothing and not trusted. Needs `https://`."
        ),
        SettingKey(
            "key_identifiers", \.keyIdentifiers,
            "Whether headers name the KAS key that they are made for, so that the KAS need not guess after a rollover. `auto`: where the KAS says that it reads the name, as WatchBox's does; `always` for OpenTDF's KAS, which reads it and does not say so; `never` for arkavo-rs, which refuses such headers."
        ),
        SettingKey("secret", .secretName, \.secret, "Name of a stored secret of the box that holds the access token."),
    ]
}
