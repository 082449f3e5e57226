/// Whether headers name the KAS key that they are made for (NanoTDF spec §3.4.1.1). With the name a KAS need not guess after
/// a rollover.
public enum KeyIdentifierUse: String, Codable, CaseIterable, Sendable {
    /// Where the KAS says that it reads it, as WatchBox's does.
    case automatic = "auto"
    /// For OpenTDF's KAS, which reads it and does not say so.
    case always
    /// For arkavo-rs, which refuses such headers.
    case never
}
