/// What somebody writes on a laptop for a box that was just flashed, `WATCHBOX/watchbox.toml` of its boot partition or of a
/// stick: objects of the configuration as `config export` writes them, and beside them what a configuration never holds.
///
/// `read` makes one; it does nothing by itself.
public struct AdoptionFile: Equatable, Sendable {
    /// Bytes.
    public static let sizeLimit = 64 << 10

    /// What `name` says, which is the name of the box as well; nil: the file says nothing of it.
    public var name: String?
    /// Nil: the file says nothing of it, and it stays as it is; so with the next two.
    public var ethernet: EthernetSettings?
    public var wireless: WirelessSettings?
    /// Who may log in over SSH; empty: nobody.
    public var administratorKeys: [SSHPublicKey]?
    /// The objects of the file; they name their secrets.
    public var objects = BoxSettings()
    /// In a stable order.
    public var secrets: [ObjectSecret] = []
    /// In a stable order; the objects name their files.
    public var authorities: [AdoptionAuthority] = []

    public init() {}

    /// Whether control has anything to do with it.
    public var hasObjects: Bool { !objects.storedParts().isEmpty || !secrets.isEmpty }
}

/// A key of an object that holds a secret in clear, and exists in adoption files alone.
struct ClearSecretKey: Sendable {
    /// Of the object: `relay`.
    var table: String
    var name: String
    /// The setting that names the stored secret, and what it names unless the file says so; nil: none has to, as for
    /// a camera's password.
    var reference: (key: String, prefix: String)?
    var place: @Sendable (_ id: String) -> ObjectSecret.Place
    /// A URL rather than a word.
    var isURL: Bool

    static let all = [
        ClearSecretKey(
            table: "relay", name: "secret_url", reference: ("secret", "relay-"), place: { .relay($0) }, isURL: true),
        ClearSecretKey(
            table: "hook", name: "secret_url", reference: ("secret", HookSettings.secretPrefix), place: { .hook($0) },
            isURL: true),
        ClearSecretKey(
            table: "hook", name: "token", reference: ("token_secret", HookSettings.tokenSecretPrefix),
            place: { .hookToken($0) }, isURL: false),
        ClearSecretKey(
            table: "kas", name: "token", reference: ("secret", "kas-token"), place: { _ in .keyAccessToken },
            isURL: false),
        ClearSecretKey(table: "camera", name: "password", reference: nil, place: { .camera($0) }, isURL: false),
    ]

    static func of(_ table: String) -> [ClearSecretKey] { all.filter { $0.table == table } }
}
